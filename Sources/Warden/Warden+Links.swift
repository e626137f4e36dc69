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
            if links.count >= 16, let oldest = links.oldestStranger { drop(oldest) }
            let id = links.add(socket)
            if (try? watches.add(socket.raw, .link(id))) == nil { _ = links.remove(id) }
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
        guard let (link, wasDaemon) = links.remove(id) else { return }
        watches.remove(link.socket.raw)
        detach(id, link)
        guard wasDaemon else { return }
        // From now on somebody else has to read what jobs report, or they block.
        for run in runs.values {
            guard let socket = run.pipes?.notifySocket, !watches.contains(socket.raw) else { continue }
            try? watches.add(socket.raw, .notify(run.key))
        }
    }

    /// Sends everything that has room; asks to be woken for what has not.
    func flushLinks() {
        for run in runs.values where !run.reports.isEmpty { sendReports(of: run) }
        for id in links.ids {
            let waited = links[id]?.hasWaiting ?? false
            do throws(HostError) {
                try links[id]?.flush()
            } catch {
                drop(id)
                continue
            }
            if let link = links[id], waited || link.hasWaiting {
                watches.setInterest(link.socket.raw, link.hasWaiting ? .readingAndWriting : .reading)
            }
        }
    }

    /// Sends to the daemon; what it must not miss is repeated when it comes back.
    func send(_ message: WardenMessage) {
        if links.daemon != nil { links.sendToDaemon(message.frame) }
    }

    /// Sends what a run reported, unless there is nobody or too much waits.
    func sendReports(of run: Run) {
        guard links.takesReports else { return }
        for frame in run.reports.takeAll() { links.sendToDaemon(frame) }
    }

    private func acceptOne() throws(HostError) -> Descriptor? {
        try LocalSocket.accept(listener)
    }
}
