import APIServer
import ArgumentParser
import Host
import Logging
import ServiceLifecycle
import Timeline
import Tracking
import WebhookChannel

/// A local receiver of webhooks, for trying things out: verifies each one and prints it.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive webhooks on 127.0.0.1, verify them, and print them.",
        discussion: """
            Answers 204 to a webhook with a valid signature (without a secret: to every webhook) and 401 to \
            others. A repeated webhook-id is marked: after a crash a sender may repeat a webhook with its id. \
            Without a secret it also answers as ntfy, Telegram and the other services that channels use do: \
            point a channel at its address to try the channel without the service. To see how senders \
            react, --status answers with other codes in turn, and --delay keeps them waiting.

            Examples:
              belfryd listen --port 8080
              belfryd listen --port 8080 --secret-file hook.secret --json
              belfryd listen --status 503,503,200 --delay 2s
            """)

    @Option(help: ArgumentHelp("The port; 0 takes a free one.", valueName: "n"))
    var port = 0

    @Option(help: ArgumentHelp("A file with the secret, whsec_..., or several.", valueName: "file"))
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            "Answer valid webhooks with these codes in turn; the last one repeats.", valueName: "codes"))
    var status: String?

    @Option(help: ArgumentHelp("Wait before each answer, such as 2s.", valueName: "duration"))
    var delay: String?

    @OptionGroup var printing: Printing

    /// The statuses to answer with, in turn; nil: one of them is none.
    private var statuses: [Int]? {
        guard let status else { return [] }
        let codes = status.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        let good = codes.compactMap(\.self).filter { (200...599).contains($0) }
        return good.count == codes.count ? good : nil
    }

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port takes a number from 0 to 65535")
        }
        guard statuses != nil else {
            throw ValidationError("--status takes statuses from 200 to 599, such as 503,503,204")
        }
        if let delay, (try? Duration(text: delay)) == nil {
            throw ValidationError("--delay takes a duration such as 500ms or 2s")
        }
    }

    func run() async throws {
        let secrets = try readSecrets()
        let clock = try SystemClock()
        let print = ListenPrinter(isJSON: printing.json, statuses: statuses ?? [])
        let delay = try delay.map { try Duration(text: $0) }
        let logger = try Log.make(level: "warning")
        let listener = HTTPListener(
            port: port, logger: logger, ready: { await print.ready(port: $0, isVerified: !secrets.isEmpty) }
        ) { received in
            guard let call = ImitatedService.Call(received) else { return HTTPListener.Answer(405) }
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
            await print.show(
                call, id: received["webhook-id"], bytes: received.body.count, isVerified: !secrets.isEmpty,
                fault: fault)
            if let delay { try? await clock.sleep(until: clock.now + delay) }
            return fault == nil ? await print.answer(to: call) : HTTPListener.Answer(401)
        }
        try await serve(listener, logger)
    }

    private func readSecrets() throws(Failure) -> [WebhookSecret] {
        guard let secretFile else { return [] }
        do {
            let bytes = try SmallFile.readWaiting(secretFile, limit: 1 << 16)
            return try WebhookSecret.list(SmallFile.text(of: bytes))
        } catch let error as HostError {
            throw Failure(
                "belfryd listen: \(error)", hint: "name an existing file with --secret-file", code: 2)
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

/// Prints what arrived, a line each, flushed, and knows what was answered.
actor ListenPrinter {
    private let isJSON: Bool
    private var seen: Set<String> = []
    /// The messages that were posted to a service that changes them, as `telegram 7`.
    private var posted: Set<String> = []
    private var lastMessage = 0
    /// The statuses to answer with, in turn; the last one repeats.
    ///
    /// Empty: as the service answers.
    private var statuses: ArraySlice<Int>

    init(isJSON: Bool, statuses: [Int]) {
        self.isJSON = isJSON
        self.statuses = statuses[...]
    }

    /// The next answer.
    func answer(to call: ImitatedService.Call) -> HTTPListener.Answer {
        let status = statuses.first
        if statuses.count > 1 { statuses.removeFirst() }
        if let status, !(200...299).contains(status) {
            var answer = call.refusal(status)
            if status == 429 { answer.retryAfterSeconds = 1 }
            return answer
        }
        let service = call.service.rawValue
        if let message = call.message, let loss = call.loss, !posted.contains("\(service) \(message)") {
            return loss
        }
        if call.message == nil {
            lastMessage += 1
            if call.loss != nil { posted.insert("\(service) \(lastMessage)") }
        }
        var answer = call.success(lastMessage)
        answer.status = status ?? answer.status
        return answer
    }

    func ready(port: Int, isVerified: Bool) {
        if isJSON {
            let address = JSON.string("http://127.0.0.1:\(port)")
            write(.object(["listening": address, "verifies": .bool(isVerified)]))
        } else {
            let how = isVerified ? "verifying signatures" : "without a secret: nothing is verified"
            StandardOutput.print("listening on http://127.0.0.1:\(port), \(how)")
        }
    }

    func show(_ call: ImitatedService.Call, id: String?, bytes: Int, isVerified: Bool, fault: String?) {
        let isRepeated = id.map { !seen.insert($0).inserted } ?? false
        let isWebhook = call.service == .webhook || call.service == .other
        let envelope = isWebhook ? call.body.flatMap { $0["type"]?.text == nil ? nil : $0 } : nil
        if isJSON {
            write(
                .object([
                    "id": .string(id ?? ""), "service": .string(call.service.rawValue),
                    "action": call.action.isEmpty ? nil : .string(call.action),
                    "verified": .bool(isVerified && fault == nil),
                    "repeated": .bool(isRepeated), "fault": fault.map(JSON.string),
                    "body": call.body ?? .null,
                ]))
            return
        }
        let mark =
            fault.map { "REFUSED (\(CleanText.line($0, limit: 300)))" }
            ?? (isVerified ? "verified" : "unsigned")
        let again = isRepeated ? " again" : ""
        let summary =
            envelope?.webhookSummary ?? (isWebhook ? "\(bytes) bytes that are no webhook" : call.summary)
        let shownID = id.map { "  " + CleanText.line($0, limit: 100) } ?? ""
        StandardOutput.print("\(mark)\(again)  \(summary)\(shownID)")
    }

    private func write(_ line: JSON) { StandardOutput.print(String(decoding: line.bytes, as: UTF8.self)) }
}

extension JSON {
    /// As `run.failed        flaky#2 failed, exit code 1`, on one clean line: anybody may have sent it.
    fileprivate var webhookSummary: String {
        func clean(_ text: String?) -> String { CleanText.line(text ?? "", limit: 300) }
        let data = self["data"]
        var text = clean(self["type"]?.text)
        text += String(repeating: " ", count: max(0, 16 - text.count))
        if let run = data?["run"] {
            let state = run["state"]?.text
            let words = state.flatMap(RunState.init)?.words ?? state
            text += "  \(clean(run["name"]?.text ?? run["job"]?.text)) \(clean(words))"
            if let code = run["exitCode"]?.int, code != 0 { text += ", exit code \(code)" }
            if let count = run["count"]?.int { text += ", \(count) slots" }
        }
        if let item = data?["item"] {
            let lines = (item["last"]?.elements ?? []).compactMap { $0["text"]?.text }
            let quoted = lines.map { "\"\(clean($0))\"" }.joined(separator: " ")
            let count = item["count"]?.int ?? 0
            if let job = item["job"]?.text {
                text += "  \(clean(job)): \(count) failure\(count == 1 ? "" : "s")"
                if let note = item["note"]?.text { text += ", \(clean(note))" }
            } else {
                text += "  \(clean(item["bot"]?.text)): \(count) new: \(quoted)"
            }
        }
        if let reason = data?["reason"]?.text { text += "  (\(clean(reason)))" }
        return text
    }
}
