import CronBench
import Glibc
import Synchronization
import TestSupport
import Tracking

/// The desktop of a chaos home: a bus of its own with a notification server that is killed as the daemon is.
///
/// Each server that is started behaves as another one of those that people have.
final class ChaosDesktop: Sendable {
    /// A popup that is, or was, on the screen.
    private struct Popup {
        var text: String
        /// Keys and labels in turn.
        var actions: [String]
    }

    private struct State {
        var server: ChildProcess?
        /// By the number that the server gave; a new server begins again.
        var popups: [Int: Popup] = [:]
        /// Which server it is; lines of an earlier one that are read late mean nothing.
        var generation = 0
        /// What the server answered to `shown`, the newest answer, and how many answers there were.
        var shown: (texts: [String], answers: Int) = ([], 0)
        var notices = 0
        var random: SeededNumbers
    }

    private static let kinds = ["gnome", "kde", "dunst", "mako", "swaync", "xfce"]

    private let bus: PrivateBus
    private let state: Mutex<State>

    /// A bus without a server.
    init(seed: UInt64) async throws {
        bus = try await PrivateBus.start()
        state = Mutex(State(random: SeededNumbers(seed: seed)))
    }

    /// Where the bus is.
    var address: String { bus.address }

    /// Whether there is a server.
    var isRunning: Bool { state.withLock { $0.server != nil } }

    /// How often a server was started.
    var servers: Int { state.withLock(\.generation) }

    /// How many notices any server got.
    var notices: Int { state.withLock(\.notices) }

    /// Starts a server, and waits for nothing.
    func launch() throws {
        let (kind, number) = state.withLock { state in
            state.generation += 1
            (state.popups, state.shown.texts) = ([:], [])
            return (Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &state.random)], state.generation)
        }
        let server = try ChildProcess(
            PythonTools.interpreter(),
            [PythonTools.script("notification-server.py"), "--address", address, "--like", kind],
            isQuiet: true)
        state.withLock { $0.server = server }
        let lines = server.lines
        Task { [weak self] in
            for await line in lines { self?.read(line, of: number) }
        }
    }

    /// Ends the server without a word, and with it all that is on the screen.
    func kill() async {
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        await server?.end()
    }

    private struct Line: Decodable {
        var method: String
        var id: Int?
        var summary: String?
        var body: String?
        var actions: [String]?
    }

    private func read(_ text: String, of number: Int) {
        guard text.hasPrefix("{"), let line = try? JSON.decode(Line.self, from: text.utf8) else { return }
        state.withLock { state in
            guard number == state.generation else { return }
            switch line.method {
            case "Notify":
                guard let id = line.id, id > 0 else { return }
                state.notices += 1
                state.popups[id] = Popup(
                    text: "\(line.summary ?? "")|\(line.body ?? "")", actions: line.actions ?? [])
            case "CloseNotification": if let id = line.id { state.popups[id] = nil }
            case "shown": state.shown = (line.actions ?? [], state.shown.answers + 1)
            default: break
            }
        }
    }

    /// Presses the button `label` of the popup whose text contains `tag`; false: there is none.
    func press(_ label: String, ofPopupWith tag: String) -> Bool {
        state.withLock { state in
            guard let (id, popup) = state.popups.first(where: { $0.value.text.contains(tag) }),
                let place = popup.actions.indices.first(where: { $0 % 2 == 1 && popup.actions[$0] == label }),
                let server = state.server
            else { return false }
            return (try? server.write("action \(id) \(popup.actions[place - 1])")) != nil
        }
    }

    /// What is on the screen; nil: the server does not answer.
    func shown() -> [String]? {
        let before = state.withLock { state -> Int? in
            guard (try? state.server?.write("shown")) != nil else { return nil }
            return state.shown.answers
        }
        guard let before else { return nil }
        for _ in 0..<300 {
            let shown = state.withLock(\.shown)
            if shown.answers > before { return shown.texts }
            usleep(10_000)
        }
        return nil
    }
}
