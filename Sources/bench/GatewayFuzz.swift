import CronBench
import OpenClaw
import Timeline
import Tracking

/// Mutated frames of a gateway: none traps, whatever is read of one is the same twice, and a reply that is put together of
/// any events has the text that its changes add up to, and at most one end.
///
/// A fault prints its seed and ends the program: `bench gateway-fuzz [COUNT [SEED]]`.
enum GatewayFuzz {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs `arguments[0]` frames (a million unless said) with the seed `arguments[1]`.
    static func run(arguments: [String]) throws {
        let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
        let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        print("gateway-fuzz: \(count) frames, seed \(seed)")
        var random = SeededNumbers(seed: seed)
        var reply = Reply()
        var (read, replies) = (0, 0)
        let watch = Stopwatch()
        for index in 0..<count {
            let bytes = FuzzStreams.frame(&random)
            do {
                guard let frame = try? GatewayFrame(bytes[...]) else { continue }
                read += 1
                guard try GatewayFrame(bytes[...]) == frame else { throw Fault(description: "another frame") }
                look(at: frame)
                if case .event("chat", let payload, _) = frame, let event = ChatEvent(payload) {
                    try reply.apply(event)
                }
                if reply.isOver || index.isMultiple(of: 50) { (reply, replies) = (Reply(), replies + 1) }
            } catch {
                throw Fault(description: "frame \(index): \(error)")
            }
        }
        print("  \(count) frames, \(read) read, \(replies) replies, \(watch.seconds.short) s")
    }

    /// All that is made of a frame.
    private static func look(at frame: GatewayFrame) {
        switch frame {
        case .response(_, .success(let payload)):
            _ = GatewayHello(payload)?.missingScopes
            let history = SessionHistory(payload)
            _ = RunRecovery(
                "k1", message: "hi", sent: Moment(seconds: 1_737_264_000), wait: RunWaitResult(payload),
                history: history)
        case .response(_, .failure(let fault)):
            let trouble = GatewayTrouble(refusal: fault)
            _ = trouble.sentence(of: "b", at: "h")
            _ = (trouble.hint(of: "b"), fault.pause, fault.missingScope)
        case .event(_, let payload, _): _ = GatewayChallenge(payload)
        case .other: break
        }
    }

    /// A reply, put together a second time of what it reports.
    private struct Reply {
        private var assembly = ChatAssembly()
        private var text = ""
        var isOver: Bool { assembly.isOver }

        mutating func apply(_ event: ChatEvent) throws {
            var ends = 0
            for change in assembly.receive(event) {
                switch change {
                case .appended(let piece): text += piece
                case .replaced(let whole): text = whole
                case .ended: ends += 1
                }
            }
            guard text == assembly.text else { throw Fault(description: "the changes make another text") }
            guard ends == (isOver ? 1 : 0) else { throw Fault(description: "\(ends) ends") }
        }
    }
}

extension FuzzStreams {
    private static let frames: [[UInt8]] = [
        #"{"type":"event","event":"connect.challenge","payload":{"nonce":"n-1","ts":1737264000000}}"#,
        #"{"type":"res","id":"1","ok":true,"payload":{"type":"hello-ok","protocol":3,"server":{"version":"2026.4.12","connId":"c-1"},"snapshot":{"sessionDefaults":{"defaultAgentId":"main","mainKey":"main","mainSessionKey":"agent:main:main"}},"auth":{"deviceToken":"dt","scopes":["operator.read"]},"policy":{"maxPayload":26214400,"tickIntervalMs":30000}}}"#,
        #"{"type":"res","id":"1","ok":false,"error":{"code":"NOT_PAIRED","message":"pairing required","details":{"code":"PAIRING_REQUIRED","requestId":"r-1","reason":"not-paired"}}}"#,
        #"{"type":"res","id":"2","ok":false,"error":{"code":"UNAVAILABLE","message":"starting","retryable":true,"retryAfterMs":500}}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":3,"state":"delta","message":{"role":"assistant","content":[{"type":"text","text":"He"}]}},"seq":9}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":5,"state":"final","message":{"content":[{"type":"text","text":"Hello"}]}},"seq":10}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":4,"state":"delta","deltaText":"llo \u00e9"},"seq":3}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":6,"state":"delta","deltaText":"Again","replace":true},"seq":4}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","seq":2,"state":"error","errorMessage":"rate limited","errorKind":"rate_limit"}}"#,
        #"{"type":"res","id":"8","ok":true,"payload":{"runId":"k5","status":"ok","startedAt":1737264003000}}"#,
        #"{"type":"res","id":"4","ok":true,"payload":{"messages":[{"role":"user","content":"hi","timestamp":1737264001000,"__openclaw":{"id":"m","seq":1}},{"role":"assistant","content":[{"type":"text","text":"ho"}]}],"sessionInfo":{"hasActiveRun":true,"activeRunIds":["k1"]},"hasMore":false}}"#,
    ].map { Array($0.utf8) }

    /// A frame of a gateway that is nearly right.
    static func frame(_ random: inout SeededNumbers) -> [UInt8] {
        mutated(frames[Int.random(in: 0..<frames.count, using: &random)], &random)
    }
}
