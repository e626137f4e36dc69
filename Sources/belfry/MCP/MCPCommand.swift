import API
import APIClient
import ArgumentParser
import Glibc
import Host
import Synchronization
import Tracking

struct MCPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Serves tools to an MCP client on standard input and output.",
        discussion: """
            For the configuration of a program that speaks the Model Context
            Protocol. With --bot it has the tools that bots.NAME.tools allows; without, it
            acts as you and has all of them.

              belfry mcp --bot cc
              claude mcp add belfry -- belfry mcp
            """)

    @Option(
        help: ArgumentHelp("Serve the tools of this bot.", valueName: "bot"), completion: Completions.bots)
    var bot: String = "belfry"
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try Patience.client(for: try common.client().socket, longest: MCPServer.longestCall)
        // Before anybody waits for it: a bot that is not there is a mistake of the command line.
        let tools = try client.ask(Endpoints.tools(bot))
        let server = MCPServer(client, bot: bot, run: Machine.environment["BELFRY_RUN_ID"])
        server.note(tools)
        try server.serve()
    }
}

/// Answers an MCP client until it closes its end: calls are performed by the daemon, several at a time.
final class MCPServer: Sendable {
    /// The most calls at a time.
    private static let callLimit = 16

    private let client: DaemonClient
    private let bot: String
    private let run: String?
    /// The calls under way, by the JSON of their ids.
    private let open = Mutex<[[UInt8]: OpenCall]>([:])
    /// The tools whose calls may be sent again.
    private let repeatable = Mutex<Set<String>>([])
    private let output = Mutex<Void>(())

    /// A call that the client waits for.
    private struct OpenCall {
        /// Its id at the daemon.
        let id = UniqueID.v4()
        /// How far it is, as the client was notified; nil: its answer is on the way, and nothing comes after that.
        var shown: Double? = 0
    }

    /// So often the daemon is asked how far a call is, in microseconds.
    private static let glance: UInt32 = 500_000

    /// A call takes no longer: bots of a team may work for hours.
    static let longestCall = Duration.seconds(24 * 3600)
    /// So often it is looked whether the daemon is there again, one second apart.
    private static let mostTries = 120

    /// A server for a bot; the run is the one in which its client works.
    init(_ client: DaemonClient, bot: String, run: String?) {
        self.client = client
        self.bot = bot
        self.run = run
    }

    /// Reads requests to the end of standard input, and answers those that are under way then and end within 30 s.
    func serve() throws {
        var conversation = MCPConversation(
            instructions: "Tools of Belfry, which notifies a person and schedules tasks on this machine.")
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                guard byte == 0x0A else {
                    line.append(byte)
                    continue
                }
                if !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { perform(conversation.receive(line)) }
                line = []
            }
            guard line.count <= MCPConversation.lineLimit else {
                throw APIError(.badValue, "a line of standard input is longer than 4 MiB")
            }
        }
        // A client that closed its end may still read, but nobody waits for hours.
        var rounds = 1500
        while !open.withLock(\.isEmpty), rounds > 0 {
            usleep(20_000)
            rounds -= 1
        }
    }

    private func perform(_ step: MCPConversation.Step) {
        switch step {
        case .ignore: break
        case .answer(let json): send(json)
        case .cancel(let id): cancel(id.bytes)
        case .list(let request): send(list(for: request))
        case .call(let request, let tool, let arguments): begin(request, tool, arguments)
        }
    }

    private func list(for request: MCPConversation.Request) -> JSON {
        do throws(APIError) {
            let offered = try client.ask(Endpoints.tools(bot))
            note(offered)
            let tools = offered.map { tool in
                JSON.object([
                    "name": .string(tool.name), "description": .string(tool.description),
                    "inputSchema": tool.inputSchema,
                    "annotations": .object(["idempotentHint": .bool(tool.isRepeatable ?? false)]),
                ])
            }
            return MCPConversation.list(tools, to: request)
        } catch {
            return MCPConversation.answer(error.sentence, isError: true, to: request)
        }
    }

    /// Performs a call on a thread of its own: the client may send more meanwhile, or cancel it.
    private func begin(_ request: MCPConversation.Request, _ tool: String, _ arguments: JSON) {
        let id = request.id.bytes
        let call = OpenCall()
        let refusal: String? = open.withLock { open in
            if open.count >= Self.callLimit {
                return "at most \(Self.callLimit) calls are performed at a time"
            }
            guard open[id] == nil else { return "a request of this id is under way" }
            open[id] = call
            return nil
        }
        if let refusal { return send(MCPConversation.answer(refusal, isError: true, to: request)) }
        if let progress = MCPConversation.progress(0, "calling \(tool)", of: request) { send(progress) }
        do throws(HostError) {
            try BackgroundThread.start(named: "mcp call") { [self] in
                let answer = self.call(tool, arguments, call.id, id)
                // Of a call that was canceled nothing more is sent.
                let isWanted = open.withLock { open in
                    open[id]?.shown = nil
                    return open[id] != nil
                }
                guard isWanted else { return }
                if let progress = MCPConversation.progress(1, "done", of: request) { send(progress) }
                send(MCPConversation.answer(answer.text, isError: answer.isError, to: request))
                open.withLock { _ = $0.removeValue(forKey: id) }
            }
            if request.progress != nil {
                try BackgroundThread.start(named: "mcp progress") { [self] in follow(call.id, of: request) }
            }
        } catch {
            open.withLock { _ = $0.removeValue(forKey: id) }
            send(MCPConversation.answer("\(error)", isError: true, to: request))
        }
    }

    /// Notifies the client of how far a call is, as long as it waits for it; each time it is further than before.
    private func follow(_ call: String, of request: MCPConversation.Request) {
        let id = request.id.bytes
        while open.withLock({ $0[id]?.shown != nil }) {
            usleep(Self.glance)
            // What can't be asked now is asked again.
            guard let now = try? client.ask(Endpoints.toolProgress(call)), let part = now.progress else {
                continue
            }
            open.withLock { open in
                guard let shown = open[id]?.shown, part > shown, part < 1 else { return }
                open[id]?.shown = part
                let words = now.message ?? "under way"
                if let progress = MCPConversation.progress(part, words, of: request) { send(progress) }
            }
        }
    }

    /// Ends a call that the client no longer wants.
    private func cancel(_ id: [UInt8]) {
        guard let call = open.withLock({ $0.removeValue(forKey: id) }) else { return }
        do throws(HostError) {
            try BackgroundThread.start(named: "mcp cancel") { [client] in
                // A daemon that is away has lost the call, or makes it again for nobody.
                _ = try? client.ask(Endpoints.cancelTool(call.id))
            }
        } catch {
            // It goes on, and nobody is sent its answer.
        }
    }

    /// Notes which tools may be called again.
    func note(_ tools: [WireTool]) {
        repeatable.withLock { $0 = Set(tools.filter { $0.isRepeatable == true }.map(\.name)) }
    }

    /// Performs a call; one that may be made twice is made again when the daemon ended meanwhile and is there again.
    private func call(
        _ tool: String, _ arguments: JSON, _ call: String, _ id: [UInt8]
    ) -> WireToolAnswer {
        var asked = ToolCallRequest(name: tool)
        (asked.arguments, asked.run, asked.id) = (arguments, run, call)
        var tries = 0
        while true {
            do throws(APIError) {
                return try client.ask(Endpoints.callTool(bot, body: asked))
            } catch {
                let isAway = [.noDaemon, .connectionLost, .noAnswer, .stopping, .starting].contains(
                    error.code)
                let isWanted = open.withLock { $0[id] != nil }
                guard isAway, isWanted, tries < Self.mostTries, repeatable.withLock({ $0.contains(tool) })
                else {
                    return WireToolAnswer(text: error.sentence, isError: true)
                }
                tries += 1
                sleep(1)
            }
        }
    }

    private func send(_ json: JSON) {
        output.withLock { _ in
            do throws(HostError) {
                try StandardOutput.send(json.bytes + [0x0A])
            } catch {
                Entry.end(unwritten: error)
            }
        }
    }
}
