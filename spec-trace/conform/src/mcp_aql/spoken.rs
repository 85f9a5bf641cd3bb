//! MCP-AQL over the driver protocol: what is declared, named, and left open.

use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::alphabet::{Call, Op as Asked};
use countersign_model::mcp_aql::environment::Bounds;
use countersign_model::mcp_aql::wire::Names;
use countersign_model::wire::Codec as _;
use countersign_protocol::mcp_aql::{self as driver, Capability, Op as Own, Purpose, Query};
use countersign_protocol::{Common, Kind, Op};

use super::draw;
use super::executor::Reference;
use crate::driven::{Step, placeholder};
use crate::spoken::{Driver, HOUR, START, Spoken};

/// What an implementation names.
pub(super) const TOKEN: usize = 0;

/// What stands for the thing of that kind and number.
pub(super) fn named(kind: usize, number: usize) -> String {
    placeholder(McpAql::NAMED[kind], number, None)
}

impl Spoken for McpAql {
    type Codec = Names;
    type Reference = Reference;
    type Drawn = draw::Drawn;
    const FAR: Bounds = Bounds {
        tokens: 3,
        ticks: 3,
        set_back: 3,
        crashes: 3,
        events: 3,
        settings: 3,
        elsewhere: true,
        queries: true,
        ..Bounds::ONE
    };
    const CONTRACT: &'static str = "AQL-1.3-2";
    const SUITE: &'static str = include_str!("suite.json");
    const BYTES: usize = draw::BYTES;
    const NEEDED: &'static [Kind] = &[Kind::Respond, Kind::Perform];
    const SUPPORTS: &'static [Capability] = &[
        Capability::MultiUse,
        Capability::SessionScope,
        Capability::Quota,
        Capability::Introspect,
        Capability::Restart,
    ];
    /// Whoever takes the setting has the codes of `oracle` as well.
    const OPEN: &'static [(&'static str, &'static [&'static str])] = &[
        ("check-order", &["table", "sample"]),
        ("oracle", &["configured", "uniform"]),
        ("multi-use", &["in-session", "anywhere"]),
        ("session-binding", &["multi-use", "always"]),
        ("ended-session", &["either", "stays-ended"]),
        ("token-storage", &["kept", "signed"]),
        ("purge-code", &["either", "unknown", "remembered"]),
        ("revoked-code", &["invalid", "already-used"]),
        ("clock-set-back", &["stays-expired", "current-time"]),
        ("tolerance-unset", &["30-seconds", "none"]),
        ("longest-life", &["maximum", "default"]),
    ];
    const UNSEEN: &'static [(&'static str, &'static str)] = &[
        (
            "AQL-5.5-2",
            "by the reading purge-code: remembered nothing is wrong",
        ),
        (
            "AQL-5.3-2",
            "by the reading token-storage: signed nothing is wrong",
        ),
    ];
    const TICK: Call = Call {
        now: START,
        op: Asked::Tick,
    };
    const NAMED: &'static [&'static str] = &["confirmation_token"];

    fn names(codec: &Names, _: usize) -> &[String] {
        codec.tokens()
    }

    fn all_named(
        op: &mut Op<driver::McpAql>,
        each: &mut dyn FnMut(usize, &mut String) -> bool,
    ) -> bool {
        match op {
            Op::Own(Own::Call(call)) => {
                let token = call.confirmation_token.as_mut();
                token.is_none_or(|it| each(TOKEN, it))
            }
            Op::Own(Own::Introspect { token, .. }) => each(TOKEN, token),
            Op::Own(Own::Configure { .. } | Own::Event { .. } | Own::EndSession { .. })
            | Op::Common(_) => true,
        }
    }

    fn can_be_asked(driver: &Driver<Self>, op: &mut Op<driver::McpAql>) -> bool {
        match op {
            Op::Own(Own::Call(call)) => {
                if !driver.supports(Capability::SessionScope) {
                    call.session_scope = None;
                }
                (call.max_uses.is_none_or(|it| it == 1) || driver.supports(Capability::MultiUse))
                    && (call.purpose != Some(Purpose::QuotaContinue)
                        || driver.supports(Capability::Quota))
            }
            Op::Own(Own::Introspect { .. }) => driver.supports(Capability::Introspect),
            Op::Common(Common::Restart { .. }) => driver.supports(Capability::Restart),
            Op::Own(Own::Configure { .. } | Own::Event { .. } | Own::EndSession { .. })
            | Op::Common(_) => true,
        }
    }

    fn ends(now: i64) -> Vec<Step<driver::McpAql>> {
        let status = Own::Introspect {
            adapter: None,
            query: Query::TokenStatus,
            token: named(TOKEN, 0),
        };
        let restart = Common::Restart { lost: Some(0) };
        let ends = [
            (now, Op::Own(status)),
            (now + HOUR, Op::Common(Common::Tick {})),
            (now + HOUR, Op::Common(restart)),
        ];
        ends.map(|(now, op)| Step::new(now, op)).into()
    }

    fn in_suite(codec: &mut Names, call: &Call) -> Option<(i64, Op<driver::McpAql>)> {
        let mut call = call.clone();
        call.now += START;
        Some((call.now, codec.request(&call)?))
    }
}
