import Glibc
import Host
import Performing
import WardenProtocol

extension Warden {
    func acceptLinks() {
        while let socket = (try? acceptOne()) ?? nil {
            // Only the user the jobs belong to, and root.
            guard let peer = try? LocalSocket.peer(of: socket), peer.userID == geteuid() || peer.userID == 0
            else { continue }
            // Somebody who connects and says nothing does not keep others out.
            if links.count >= 16,
                let oldest = links.filter({ !$0.value.hasHello && !$0.value.isTerminal }).keys.min()
            {
                drop(oldest)
            }
            let id = (links.keys.max() ?? 0) + 1
            guard (try? watch(socket.raw, .link(id))) != nil else { continue }
            links[id] = DaemonLink(socket: socket)
        }
    }

    func serveLink(_ id: UInt64) {
        do throws(WardenError) {
            let isOpen = try links[id]?.receive(&buffer) ?? false
            while let command = try links[id]?.nextCommand() { obey(command, from: id) }
            if !isOpen { drop(id) }
        } catch {
            // Who sends nonsense is hung up on; nothing it said before the nonsense is undone.
            drop(id)
        }
    }

    func drop(_ id: UInt64) {
        guard let link = links.removeValue(forKey: id) else { return }
        unwatch(link.socket.raw)
        detach(id, link)
        guard daemon == id else { return }
        daemon = nil
        awaySince = .sinceBoot
        // From now on somebody else has to read what jobs report, or they block.
        for run in runs.values {
            guard let socket = run.pipes?.notifySocket, !isWatched(socket.raw) else { continue }
            try? watch(socket.raw, .notify(run.key))
        }
    }

    /// Sends everything that has room; asks to be woken for what has not.
    func flushLinks() {
        for run in runs.values where !run.reports.isEmpty { sendReports(of: run) }
        for id in links.keys {
            let waited = links[id]?.hasWaiting ?? false
            do throws(HostError) {
                try links[id]?.flush()
            } catch {
                drop(id)
                continue
            }
            if let link = links[id], waited || link.hasWaiting {
                setInterest(link.socket.raw, link.hasWaiting ? .readingAndWriting : .reading)
            }
        }
    }

    /// Tells the daemon; what it must not miss is repeated when it comes back.
    func tell(_ message: WardenMessage) {
        guard let daemon else { return }
        links[daemon]?.send(message.frame)
    }

    /// Sends what a run reported, unless there is nobody or too much waits.
    func sendReports(of run: Run) {
        guard let daemon, links[daemon]?.isCrowded == false else { return }
        for frame in run.reports.takeAll() { links[daemon]?.send(frame) }
    }

    private func acceptOne() throws(HostError) -> Descriptor? {
        try LocalSocket.accept(listener)
    }
}
