package import Tracking

// Calls that wait for a person without a process: `claude -p` puts them off, ends, and makes them again when it is resumed.

extension AgentHook {
    /// The run that may wait without its process, and what names the agent's call there; nil: it must go on.
    ///
    /// - Source: Claude Code, "Hooks reference", `permissionDecision: defer`.
    package func parking(in environment: [String: String]) -> (run: String, call: String)? {
        guard agent == .claude, payload["hook_event_name"]?.text == "PreToolUse",
            environment["BELFRY_PARKS"] == "1", let run = environment["BELFRY_RUN_ID"], !run.isEmpty
        else { return nil }
        let input = payload["tool_input"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        return (run, payload["tool_use_id"]?.text ?? "\(tool) \(input)")
    }

    /// What is printed to put the call off.
    package static var deferral: JSON {
        specific("PreToolUse", [.init("permissionDecision", .string("defer"))])
    }

    /// What is printed where somebody closed a question without an answer.
    package static var withdrawal: JSON {
        refusal("The user withdrew this question through Belfry.")
    }

    static func refusal(_ reason: String) -> JSON {
        specific(
            "PreToolUse",
            [
                .init("permissionDecision", .string("deny")),
                .init("permissionDecisionReason", .string(reason)),
            ])
    }
}
