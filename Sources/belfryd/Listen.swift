import APIServer
import ArgumentParser
import FoundationEssentials
import Host
import Logging
import ServiceLifecycle
import Tracking
import WebhookChannel

/// A local receiver of webhooks, for trying things out: verifies each one and prints it.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive webhooks on 127.0.0.1, verify them, and print them.",
        discussion: """
            Answers 204 to a webhook with a valid signature (without a secret: to every webhook) and 401 to \
            others. A repeated webhook-id is marked: after a crash a sender may repeat a webhook with its id.

            Examples:
              belfryd listen --port 8080
              belfryd listen --port 8080 --secret-file hook.secret --json
            """)

    @Option(help: ArgumentHelp("The port; 0 takes a free one.", valueName: "n"))
    var port = 0

    @Option(help: ArgumentHelp("A file with the secret, whsec_..., or several.", valueName: "file"))
    var secretFile: String?

    @OptionGroup var printing: Printing

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port takes a number from 0 to 65535")
        }
    }

    func run() async throws {
        let secrets = try readSecrets()
        let clock = try SystemClock()
        let print = ListenPrinter(isJSON: printing.json)
        let logger = try Log.make(level: "warning")
        let listener = HTTPListener(
            port: port, logger: logger, ready: { await print.ready(port: $0, isVerified: !secrets.isEmpty) }
        ) { received in
            guard received.method == "POST" else { return 405 }
            let headers = Dictionary(received.fields.map { ($0.name, $0.value) }) { first, _ in first }
            var fault: String?
            if !secrets.isEmpty {
                do {
                    _ = try StandardWebhook.verify(
                        headers: headers, body: received.body, secrets: secrets, now: clock.now)
                } catch {
                    fault = "\(error)"
                }
            }
            await print.webhook(
                id: received["webhook-id"], body: received.body, isVerified: !secrets.isEmpty, fault: fault)
            return fault == nil ? 204 : 401
        }
        try await serve(listener, logger)
    }

    private func readSecrets() throws(Failure) -> [WebhookSecret] {
        guard let secretFile else { return [] }
        do {
            return try WebhookSecret.list(try SmallFile.text(secretFile))
        } catch let error as HostError {
            throw Failure(
                "belfryd listen: \(error)", hint: "name a file that is there with --secret-file", code: 2)
        } catch {
            throw Failure(
                "belfryd listen: \(secretFile): \(error)",
                hint: "give a file with one line whsec_ and 32 random bytes in base64", code: 2)
        }
    }

    private func serve(_ listener: HTTPListener, _ logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [listener], logger: logger))
        let signals = Task {
            for await _ in try Signals.stream() { await group.triggerGracefulShutdown() }
        }
        defer { signals.cancel() }
        do {
            try await group.run()
        } catch {
            throw Failure("belfryd listen: \(error)", hint: "choose another --port")
        }
    }
}

/// Prints what arrived, a line each, flushed.
actor ListenPrinter {
    private let isJSON: Bool
    private var seen: Set<String> = []

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    func ready(port: Int, isVerified: Bool) {
        if isJSON {
            write("{\"listening\":\"http://127.0.0.1:\(port)\",\"verifies\":\(isVerified)}")
        } else {
            let how = isVerified ? "verifying signatures" : "without a secret: nothing is verified"
            write("listening on http://127.0.0.1:\(port), \(how)")
        }
    }

    func webhook(id: String?, body: [UInt8], isVerified: Bool, fault: String?) {
        let isRepeated = id.map { !seen.insert($0).inserted } ?? false
        if isJSON {
            let payload = (try? JSONSerialized(body)) ?? "null"
            let idText = JSONText.quoted(id ?? "")
            write(
                "{\"id\":\(idText),\"verified\":\(isVerified && fault == nil),\"repeated\":\(isRepeated)"
                    + (fault.map { ",\"fault\":\(JSONText.quoted($0))" } ?? "") + ",\"body\":\(payload)}")
            return
        }
        let envelope = try? JSONDecoder().decode(WebhookEnvelope.self, from: Data(body))
        let mark =
            fault.map { "REFUSED (\(CleanText.line($0, limit: 300)))" }
            ?? (isVerified ? "verified" : "unsigned")
        let again = isRepeated ? " again" : ""
        let summary = envelope?.summary ?? "\(body.count) bytes that are no webhook"
        write("\(mark)\(again)  \(summary)  \(CleanText.line(id ?? "", limit: 100))")
    }

    /// Nothing of a body, which anybody may have sent, gets to the terminal as more than text.
    private func write(_ line: String) {
        StandardOutput.print(isJSON ? JSONText.escaped(line) : line)
    }

    /// The body itself when it is JSON on one line, else a quoted text of it.
    private func JSONSerialized(_ body: [UInt8]) throws -> String {
        _ = try JSONDecoder().decode(WebhookEnvelope.self, from: Data(body))
        let text = String(decoding: body, as: UTF8.self)
        return text.contains("\n") ? JSONText.quoted(text) : text
    }
}

/// The parts of a webhook that a line shows.
private struct WebhookEnvelope: Decodable {
    struct Content: Decodable {
        struct Run: Decodable {
            var name: String?
            var job: String?
            var state: String?
            var exitCode: Int?
            var count: Int?
        }
        struct Item: Decodable {
            struct Message: Decodable { var text: String? }
            var bot: String?
            var count: Int?
            var last: [Message]?
        }
        var reason: String?
        var run: Run?
        var item: Item?
    }
    var type: String
    var data: Content?

    /// As `run.failed        flaky#2 failed, exit code 1`, on one clean line.
    var summary: String {
        func clean(_ text: String?) -> String { CleanText.line(text ?? "", limit: 300) }
        var text = clean(type).padded(to: 16)
        if let run = data?.run {
            let state = run.state.map { RunState(rawValue: $0)?.words ?? $0 }
            text += "  \(clean(run.name ?? run.job)) \(clean(state))"
            if let code = run.exitCode, code != 0 { text += ", exit code \(code)" }
            if let count = run.count { text += ", \(count) slots" }
        }
        if let item = data?.item {
            let lines = (item.last ?? []).compactMap(\.text).map { "\"\(clean($0))\"" }.joined(separator: " ")
            text += "  \(clean(item.bot)): \(item.count ?? 0) new: \(lines)"
        }
        if let reason = data?.reason { text += "  (\(clean(reason)))" }
        return text
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

/// A text as a JSON string.
private enum JSONText {
    static func quoted(_ text: String) -> String {
        guard let data = try? JSONEncoder().encode(text) else { return "\"\"" }
        return String(decoding: data, as: UTF8.self)
    }

    /// `json` without control characters: escapes where a text holds them, blanks between its parts.
    static func escaped(_ json: String) -> String {
        var text = ""
        for scalar in json.unicodeScalars {
            guard scalar.properties.generalCategory == .control else {
                text.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            text +=
                "\t\r\n".unicodeScalars.contains(scalar)
                ? " " : "\\u00" + (digits.count < 2 ? "0" : "") + digits
        }
        return text
    }
}
