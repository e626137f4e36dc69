package import Host
package import OpenClaw
import Synchronization
import Timeline
import Tracking

/// The newest prompts that were sent to gateways, in a file: by them Belfry knows its own again in a session's history.
package final class SentPrompts: Sendable {
    private static let most = 200
    private let path: String
    private let known: Mutex<[SentPrompt]>

    /// Those of the file; none where it can't be read, so that what was sent may be shown as said elsewhere.
    package init(path: String) {
        self.path = path
        let bytes = (try? SmallFile.read(path, limit: 1 << 20, mayBeLink: false)) ?? []
        known = Mutex((JSON(parsing: bytes[...])?.elements ?? []).compactMap { SentPrompt($0) })
    }

    /// Keeps a prompt before it is sent.
    package func note(_ prompt: SentPrompt) throws(HostError) {
        try write(
            known.withLock { known in
                known = Array((known + [prompt]).suffix(Self.most))
                return known
            })
    }

    /// Notes that the gateway has taken the prompt that was sent into the session at that moment, and how it ended.
    func noteTaken(_ session: String, at moment: Moment, _ end: SentPrompt.End) throws(HostError) {
        let all: [SentPrompt]? = known.withLock { known in
            guard let place = known.lastIndex(where: { $0.session == session && $0.at == moment }),
                !known[place].isTaken
            else { return nil }
            (known[place].isTaken, known[place].end) = (true, end)
            return known
        }
        if let all { try write(all) }
    }

    private func write(_ all: [SentPrompt]) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        try PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        try SmallFile.replace(path, with: JSON.array(all.map(\.json)).bytes + [0x0A], isDurable: false)
    }

    /// Those that were sent into the session.
    package func prompts(in session: String) -> [SentPrompt] {
        known.withLock { $0.filter { $0.session == session } }
    }
}
