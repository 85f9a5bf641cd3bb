//! A protocol's text, clause by clause: how the `rules.rs` of a protocol is written.
//!
//! The one thing to know: all that the model says of a clause stands in one block under its id, in the order of the text:
//! which checks and refusals are named after it, what it forbids (a guard, which can be left out), what always holds because
//! of it (as the judge says, who names the clause), and what has to be possible. From the blocks come the enums and tables.
//! Level and section stand in the registry of clauses.

/// Declares the blocks of a protocol. What a `sometimes` asks is asked of a step and its action, by the names given in front.
///
/// `also` adds clauses that say the same. `in_samples` names the sections of the text whose own code leaves the rule out.
/// `with` names what the bounds have to have for it to show, such as `clarifications` or `confirmations=2`; without it every search
/// shows it.
/// `free` says why somebody outside finds nothing wrong where it is left out.
macro_rules! text {
    (
        of $step:ident: &$Step:ty, $action:ident: $Action:ty;
        $(
            $clause:literal => {
                $( checks $Check:ident $check:literal; )*
                $( refuses $Refusal:ident $refusal:literal; )*
                $(
                    forbids $Guard:ident $gist:literal
                        $( also [$($guard_also:literal),+] )?
                        $( with $guard_with:literal )?
                        $( in_samples $sections:literal )?
                        $( free $free:literal )?;
                )*
                $(
                    always $always:literal
                        $( also [$($always_also:literal),+] )?
                        $( with $always_with:literal )?;
                )?
                $(
                    sometimes $sometimes:literal
                        $( also [$($sometimes_also:literal),+] )?
                        $( with $sometimes_with:literal )?
                        if $shown:expr;
                )*
            }
        )+
    ) => {
        /// What a message is checked for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Check { $($( #[doc = $check] $Check, )*)+ }

        impl Check {
            /// All checks, in the order of their clauses.
            pub const ALL: &'static [Self] = &[ $($( Self::$Check, )*)+ ];

            /// The clause that an audit names for what is ignored at this check.
            pub const fn clause(self) -> &'static str {
                match self { $($( Self::$Check => $clause, )*)+ }
            }
        }

        /// Why a call was refused: the caller erred and nothing was changed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Refusal { $($( #[doc = $refusal] $Refusal, )*)+ }

        impl Refusal {
            /// The clause that the caller would have had the party break.
            pub const fn clause(self) -> &'static str {
                match self { $($( Self::$Refusal => $clause, )*)+ }
            }
        }

        /// A rule, named after what it forbids.
        #[allow(clippy::doc_markdown, reason = "a gist is for the command line, too")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Guard { $($( #[doc = $gist] $Guard, )*)+ }

        impl $crate::table::Tabled for Guard {
            type Row = GuardRow;
            const ROWS: &'static [GuardRow] = &[
                $($( GuardRow {
                    guard: Guard::$Guard,
                    name: $crate::text::kebab_case!($Guard),
                    clauses: &[$clause $( $(, $guard_also)+ )?],
                    gist: $gist,
                    with: $crate::text::optional!($($guard_with)?),
                    in_samples: $crate::text::optional!($($sections)?),
                    free: $crate::text::optional!($($free)?),
                }, )*)+
            ];

            fn place(self) -> usize {
                self as usize
            }
        }

        /// What always holds.
        pub const PROPERTIES: &[$crate::properties::PropertyRow] = &[
            $($( $crate::properties::PropertyRow {
                clauses: &[$clause $( $(, $always_also)+ )?],
                text: $always,
                with: $crate::text::optional!($($always_with)?),
            }, )?)+
        ];

        /// What has to be possible.
        pub const WITNESSES: &[$crate::properties::PropertyRow] = &[
            $($( $crate::properties::PropertyRow {
                clauses: &[$clause $( $(, $sometimes_also)+ )?],
                text: $sometimes,
                with: $crate::text::optional!($($sometimes_with)?),
            }, )*)+
        ];

        /// Which of the wanted witnesses a step is, one bit each, by their place in [`WITNESSES`].
        pub(super) fn witnessed($step: &$Step, $action: $Action, wanted: u128) -> u128 {
            if wanted == 0 {
                return 0;
            }
            let mut place = 0_u32;
            let mut witnessed = 0_u128;
            $($(
                if wanted & 1 << place != 0 && $shown {
                    witnessed |= 1 << place;
                }
                place += 1;
            )*)+
            debug_assert!(place as usize == WITNESSES.len());
            witnessed
        }

        /// What there is to say about a guard.
        pub type GuardRow = $crate::rules::GuardRow<Guard>;

        /// The set of guards in force.
        pub type Rules = $crate::rules::Rules<Guard>;
    };
}

/// A value or none.
macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

/// A name of Rust as the command line has it: `HonoursLate` is `honours-late`.
macro_rules! kebab_case {
    ($name:ident) => {{
        const NAME: &str = stringify!($name);
        const KEBAB: [u8; $crate::text::kebab_length(NAME)] = $crate::text::kebab(NAME);
        match std::str::from_utf8(&KEBAB) {
            Ok(name) => name,
            Err(_) => panic!("a name of Rust is text"),
        }
    }};
}

pub(crate) use {kebab_case, optional, text};

/// How long a name is in kebab case: each capital but the first brings a hyphen.
pub(crate) const fn kebab_length(name: &str) -> usize {
    let (mut length, mut at) = (name.len(), 1);
    while at < name.len() {
        length += name.as_bytes()[at].is_ascii_uppercase() as usize;
        at += 1;
    }
    length
}

/// A name in kebab case, which is so long.
pub(crate) const fn kebab<const LENGTH: usize>(name: &str) -> [u8; LENGTH] {
    let (mut kebab, mut length, mut at) = ([b'-'; LENGTH], 0, 0);
    while at < name.len() {
        let letter = name.as_bytes()[at];
        length += (at > 0 && letter.is_ascii_uppercase()) as usize;
        kebab[length] = letter.to_ascii_lowercase();
        length += 1;
        at += 1;
    }
    kebab
}
