import CronBench
import Glibc
import Host
import Synchronization

/// A receiver that dies, hangs and refuses while it is in the mood for it, by HTTP or as a mail server.
///
/// Its port stays its own while it is dead: connections are refused then. What it accepts goes to `keep`.
final class SickReceiver: Sendable {
    /// How requests are answered.
    enum Mood: String, CaseIterable, Sendable {
        case well, mixed, refuses, throttles, hangs, hangsUp, dead
        /// Accepts, and hangs up before it answers.
        case late
    }

    /// What it speaks.
    enum Language: Sendable { case http, mail }

    private struct State {
        var mood = Mood.well
        var connections: Set<Int32> = []
        var random: SeededNumbers
        var answered: [Mood: Int] = [:]
    }

    let port: UInt16
    private let language: Language
    private let descriptor: Int32
    private let state: Mutex<State>
    private let keep: @Sendable (_ message: ArraySlice<UInt8>, _ isAccepted: Bool) -> Void

    init(
        _ language: Language, seed: UInt64,
        keep: @escaping @Sendable (_ message: ArraySlice<UInt8>, _ isAccepted: Bool) -> Void
    ) throws {
        self.language = language
        self.keep = keep
        state = Mutex(State(random: SeededNumbers(seed: seed)))
        // A port that was asked for by its number stays with its socket while that does not listen.
        let free = try BareSocket.bind()
        close(free.descriptor)
        (descriptor, port) = try BareSocket.bind(port: free.port)
        try listen()
    }

    /// How many requests it answered in each mood.
    var answered: [Mood: Int] { state.withLock(\.answered) }

    /// Changes its mood; the dead answer nothing that is under way either.
    func set(_ mood: Mood) throws {
        let (old, connections) = state.withLock { state in
            let old = state.mood
            state.mood = mood
            return (old, mood == .dead ? state.connections : [])
        }
        if mood == .dead, old != .dead {
            shutdown(descriptor, Int32(SHUT_RDWR))
            for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
        } else if old == .dead, mood != .dead {
            try listen()
        }
    }

    /// How the next request is answered.
    private func nextMood() -> Mood {
        state.withLock { state in
            var mood = state.mood
            if mood == .mixed {
                let other: [Mood] = [.refuses, .throttles, .hangsUp, .late]
                mood =
                    Int.random(in: 0..<100, using: &state.random) < 90
                    ? .well : other.randomElement(using: &state.random) ?? .well
            }
            state.answered[mood, default: 0] += 1
            return mood
        }
    }

    // MARK: Connections

    private func listen() throws {
        guard Glibc.listen(descriptor, 512) == 0 else { throw SocketFailed() }
        try BackgroundThread.start(named: "receiver") { [self] in
            while let connection = BareSocket.accept(on: descriptor) {
                // In between it may have died.
                let isAlive = state.withLock { state in
                    guard state.mood != .dead else { return false }
                    state.connections.insert(connection)
                    return true
                }
                guard isAlive,
                    (try? BackgroundThread.start(named: "connection") { self.serve(connection) }) != nil
                else {
                    close(connection)
                    continue
                }
            }
        }
    }

    private func serve(_ connection: Int32) {
        switch language {
        case .http: serveRequests(on: connection)
        case .mail: serveMails(on: connection)
        }
        state.withLock { _ = $0.connections.remove(connection) }
        close(connection)
    }

    /// Waits until it is in another mood.
    private func hang() {
        while state.withLock({ $0.mood == .hangs }) { usleep(50_000) }
    }

    // MARK: HTTP

    private func serveRequests(on connection: Int32) {
        var buffer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe read(connection, &part, part.count), count > 0 {
            buffer.append(contentsOf: part[..<count])
            while let length = RequestLength.of(buffer), length <= buffer.count {
                let request = buffer[..<length]
                buffer.removeFirst(length)
                guard answer(request, on: connection) else { return }
            }
        }
    }

    /// Answers a request; whether the connection stays.
    private func answer(_ request: ArraySlice<UInt8>, on connection: Int32) -> Bool {
        let mood = nextMood()
        keep(request, mood == .well || mood == .late)
        let line: String
        switch mood {
        case .well, .mixed: line = "200 OK"
        case .refuses: line = Bool.random() ? "500 Internal Server Error" : "503 Service Unavailable"
        case .throttles: line = "429 Too Many Requests\r\nRetry-After: 1"
        case .hangs:
            hang()
            return false
        case .hangsUp, .late, .dead: return false
        }
        return BareSocket.send("HTTP/1.1 \(line)\r\nContent-Length: 0\r\n\r\n", to: connection)
    }

    // MARK: Mail

    private func serveMails(on connection: Int32) {
        var lines = LineBuffer(connection)
        guard BareSocket.send("220 sick.example.org ESMTP\r\n", to: connection) else { return }
        var mood = Mood.well
        while let line = lines.next() {
            let word = line.prefix(4).uppercased()
            var reply = "250 2.0.0 ok"
            switch word {
            case "EHLO": reply = "250-sick.example.org\r\n250 8BITMIME"
            case "MAIL":
                mood = nextMood()
                switch mood {
                case .hangs: return hang()
                case .throttles: reply = "451 4.7.1 too many mails, later"
                case .dead: return
                case .well, .mixed, .refuses, .hangsUp, .late: break
                }
            case "DATA":
                guard BareSocket.send("354 go on\r\n", to: connection), let mail = lines.mail() else {
                    return
                }
                keep(mail, mood == .well || mood == .late)
                if mood == .hangsUp || mood == .late { return }
                if mood == .refuses { reply = "452 4.3.1 no room, later" }
            case "QUIT":
                _ = BareSocket.send("221 2.0.0 bye\r\n", to: connection)
                return
            default: break
            }
            guard BareSocket.send(reply + "\r\n", to: connection) else { return }
        }
    }

    /// The lines of a connection.
    private struct LineBuffer {
        private let connection: Int32
        private var buffer: [UInt8] = []

        init(_ connection: Int32) { self.connection = connection }

        private mutating func fill() -> Bool {
            var part = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe read(connection, &part, part.count)
            guard count > 0 else { return false }
            buffer.append(contentsOf: part[..<count])
            return true
        }

        /// What comes before the next `mark`, which is taken as well; nil: the connection ended first.
        private mutating func take(until mark: [UInt8]) -> ArraySlice<UInt8>? {
            while true {
                if let end = buffer.firstRange(of: mark) {
                    defer { buffer.removeFirst(end.upperBound) }
                    return buffer[..<end.lowerBound]
                }
                guard fill() else { return nil }
            }
        }

        mutating func next() -> String? {
            take(until: Array("\r\n".utf8)).map { String(decoding: $0, as: UTF8.self) }
        }

        mutating func mail() -> ArraySlice<UInt8>? { take(until: Array("\r\n.\r\n".utf8)) }
    }
}
