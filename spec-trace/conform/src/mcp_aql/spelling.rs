//! How one and the same parameters can be written, and how others differ from them.
//!
//! The one thing to know: of each operation there is one canonical form, written down by hand after RFC 8785; the hash of it
//! is what a token must be bound to, however the call was written (AQL-3.2-3).

/// An operation and its parameters, in many ways.
pub(super) struct Spelling {
    pub(super) operation: &'static str,
    /// The canonical form of the operation and its critical parameters.
    pub(super) canonical: &'static str,
    /// Parameters that mean this. The first of them say more besides, which counts only where all does.
    pub(super) asked: &'static [&'static str],
    /// How many those are.
    pub(super) saying_more: usize,
    /// The same where the list is narrow.
    pub(super) narrowly: &'static str,
    /// A narrow list of what counts, and a wide one, by which the canonical form is as without any.
    pub(super) narrow: &'static [&'static str],
    pub(super) wide: &'static [&'static str],
    /// A list that names nothing of any call, so that all of it counts (AQL-3.2-1).
    pub(super) absent: &'static [&'static str],
    /// Parameters that do not mean this, by any list.
    pub(super) other: &'static [&'static str],
    /// Parameters that differ only in what a narrow list leaves out.
    pub(super) unlisted: &'static [&'static str],
}

/// What stands in every parameter that is worth a secret, and must stand in no response.
pub(super) const SECRET: &str = "classified";

/// AQL-3.2-4: the critical parameters of the first operation. Of the second all are.
pub(super) const CRITICAL: [&str; 3] = ["count", "options", "path"];

/// By `Which`.
pub(super) const OPERATIONS: [Spelling; 2] = [
    Spelling {
        operation: "delete_files",
        // The keys are in the order of UTF-16, which has the emoji before the ligature.
        canonical: "{\"operation\":\"delete_files\",\"params\":{\"count\":3,\
            \"options\":{\"depth\":0.5,\"\u{1f600}\":1,\"\u{fb00}\":2},\"path\":\"/classified/a\"}}",
        narrowly: r#"{"operation":"delete_files","params":{"path":"/classified/a"}}"#,
        narrow: &["path"],
        wide: &["count", "force", "options", "path"],
        absent: &["Path", "id"],
        saying_more: 2,
        asked: &[
            r#"{"path":"/classified/a","options":{"ﬀ":2,"😀":1,"depth":0.5},"count":3,"request_id":"r-1"}"#,
            r#"{"count":3.0,"request_id":{"try":2},"options":{"😀":1e0,"depth":5e-1,"ﬀ":2},"path":"\/classified\/a"}"#,
            r#" { "options" : {"depth":0.50, "\ud83d\ude00":1, "\ufb00":20e-1}, "path":"\u002fclassified/\u0061", "count":0.3e1 } "#,
        ],
        other: &[
            r#"{"path":"/classified/A","options":{"ﬀ":2,"😀":1,"depth":0.5},"count":3}"#,
            r#"{"path":["/classified/a"],"options":{"ﬀ":2,"😀":1,"depth":0.5},"count":3}"#,
            r#"{"path":null,"options":{"ﬀ":2,"😀":1,"depth":0.5},"count":3}"#,
        ],
        unlisted: &[
            // Another value, of each type and at each depth; the same text as another type; one too few, one too many.
            r#"{"path":"/classified/a","options":{"ﬀ":2,"😀":1,"depth":0.5},"count":4}"#,
            r#"{"path":"/classified/a","options":{"ﬀ":2,"😀":1,"depth":0.25},"count":3}"#,
            r#"{"path":"/classified/a","options":{"ﬀ":1,"😀":2,"depth":0.5},"count":3}"#,
            r#"{"path":"/classified/a","options":{"ﬀ":2,"😀":1,"depth":0.5},"count":"3"}"#,
            r#"{"path":"/classified/a","options":{"ﬀ":2,"😀":1,"depth":0.5}}"#,
            r#"{"path":"/classified/a","options":{"ﬀ":2,"😀":1,"depth":0.5,"force":true},"count":3}"#,
        ],
    },
    Spelling {
        operation: "drop_table",
        // Every type of value, empty ones too, and characters that are escaped in each way that there is.
        canonical: r#"{"operation":"drop_table","params":{"keep":[-1,[],{},null,false,"1"],"log":{},"note":"\"\\\n\u0001é","owner":null,"rows":1e+21,"table":"classified","tags":[]}}"#,
        narrowly: r#"{"operation":"drop_table","params":{"table":"classified"}}"#,
        narrow: &["table"],
        wide: &[
            "keep",
            "log",
            "note",
            "owner",
            "request_id",
            "rows",
            "table",
            "tags",
        ],
        absent: &["cascade", "schema"],
        saying_more: 0,
        asked: &[
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"rows":10E+20,"tags":[ ],"log":{ },"table":"\u0063lassified","note":"\u0022\u005c\u000a\u0001\u00E9","keep":[-1.0,[],{},null,false,"\u0031"],"owner":null}"#,
            r#"{"note":"\"\\\u000A\u0001é","keep" : [-10e-1, [] ,{}, null,false,"1"],"owner":null,"log":{},"tags":[],"table":"classified","rows":1.0e21}"#,
        ],
        other: &[
            r#"{"table":"classified ","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"Table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            "{}",
        ],
        unlisted: &[
            r#"{"table":"classified","rows":1e22,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":[],"tags":{},"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[1,[],{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[[],-1,{},null,false,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,true,"1"],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,1],"note":"\"\\\n\u0001é"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\né"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001e\u0301"}"#,
            r#"{"table":"classified","rows":1e21,"owner":null,"log":{},"tags":[],"keep":[-1,[],{},null,false,"1"],"note":"\"\\\n\u0001é","request_id":"r-1"}"#,
        ],
    },
];
