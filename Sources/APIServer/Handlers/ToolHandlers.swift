import API
import Engine
import Host
import Ledger
import Performing
import Prompting
import Tracking

extension DaemonHandler {
    /// The tools that a bot may call now.
    func offeredTools(to name: String) async throws(APIError) -> [WireTool] {
        try await checkCaller(name)
        return tools.tools(of: tools.user(name, nil, self)).map { tool in
            let offer = tool.offer
            return WireTool(
                name: offer.name, description: offer.about, inputSchema: offer.arguments,
                isRepeatable: tool.isRepeatable)
        }
    }

    /// Performs a call as the bot; a refusal by the tool is an answer.
    func callTool(_ name: String, _ asked: ToolCallRequest) async throws(APIError) -> WireToolAnswer {
        try await checkCaller(name)
        var run: RunRecord?
        if let id = asked.run {
            run = try await reading(await control.ledger.run(id: id))
            // What it does belongs to a run of its own that is under way, or to none.
            if run?.bot != name || run?.state.isEnded == true { run = nil }
        }
        if let id = asked.id, !SpooledFile.isID(id) {
            throw APIError(.badValue, "id is not a UUID in lower case")
        }
        let call = ToolCall(
            id: asked.id ?? UniqueID.v4(), name: asked.name, arguments: asked.arguments ?? .members([]))
        let answer = await tools.follow(call, by: tools.user(name, run, self), on: self)
        if answer.isInterrupted { throw APIError(.stopping) }
        return WireToolAnswer(text: answer.text, isError: answer.isError)
    }

    private func checkCaller(_ name: String) async throws(APIError) {
        if name != "belfry" { _ = try await bot(name) }
    }

    /// The calls of tools that a run made, oldest first; nil: none.
    func toolCalls(of run: RunRecord) -> [WireToolCall]? {
        let calls = (1...max(run.attempt, 1)).suffix(20).flatMap { attempt in
            ToolLog(besides: identity.places.output(of: run.id, job: run.job, attempt: attempt)).calls()
        }
        return calls.isEmpty ? nil : calls
    }
}
