//! The clauses of the pending-action contract, in the order of its text. PA-8 is inferred; no clause has a keyword.

use crate::clauses;

clauses! { pub const CLAUSES;
    PA_1 "PA-1" Must;
    PA_2 "PA-2" Should;
    PA_3 "PA-3" Must;
    PA_4 "PA-4" Should;
    PA_5 "PA-5" Must;
    PA_6 "PA-6" Should;
    PA_7 "PA-7" Must;
    PA_8 "PA-8" Must;
    PA_9 "PA-9" May;
    PA_10 "PA-10" Must;
    PA_11 "PA-11" May;
    PA_12 "PA-12" Must;
    PA_13 "PA-13" Should;
    PA_14 "PA-14" May;
}
