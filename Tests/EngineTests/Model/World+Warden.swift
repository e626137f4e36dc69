import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

// What the warden and the job may do next.

extension World {
    func wardenSteps() -> [World] {
        var next: [World] = []
        if let warden {
            if let attempt = warden.starting {
                next.append(change { $0.spawn(attempt) })
            } else if !commands.isEmpty {
                next.append(change { $0.serve($0.commands.removeFirst()) })
            }
        }
        for attempt in alive { next.append(change { $0.exit(attempt) }) }
        let goes = !rules.stays || warden?.isEnding == true
        for attempt in left where goes { next.append(change { $0.left.remove(attempt) }) }
        return next
    }

    private mutating func serve(_ command: Command) {
        switch command {
        case .start(let attempt, let endsLeft):
            guard records[attempt] == nil else { return report(attempt) }
            let others = alive.union(left).subtracting([attempt])
            warden?.isEnding = endsLeft && !others.isEmpty
            if attempt > 1, !others.isEmpty { return say(.refused(attempt: attempt, .stillAlive)) }
            records[attempt] = .made
            warden?.starting = attempt
        case .query(let attempt): report(attempt)
        case .cancel(let attempt):
            guard records[attempt] == .started, alive.contains(attempt) else { return report(attempt) }
            // TERM, grace, KILL: the whole tree.
            alive.remove(attempt)
            left.remove(attempt)
            end(attempt, outcome(attempt, .canceled))
        case .acknowledge(let attempt):
            if case .ended = records[attempt] { records[attempt] = nil }
        }
    }

    /// The second half of a start: the record is there, the process comes into being.
    private mutating func spawn(_ attempt: Int) {
        warden?.starting = nil
        records[attempt] = .started
        alive.insert(attempt)
        executed[attempt, default: 0] += 1
        say(.started(attempt: attempt))
    }

    /// The job's first process ends by itself.
    private mutating func exit(_ attempt: Int) {
        alive.remove(attempt)
        if leaves { left.insert(attempt) }
        guard warden != nil, records[attempt] == .started else { return }
        let isOurs = !orphans.contains(attempt)
        end(attempt, isOurs ? outcome(attempt, .exited, code: rules.exitCode) : outcome(attempt, .lost))
    }

    private mutating func end(_ attempt: Int, _ record: ExitRecord) {
        records[attempt] = .ended(record)
        say(.ended(record))
    }

    private mutating func report(_ attempt: Int) {
        switch records[attempt] {
        case .started: say(.started(attempt: attempt))
        case .ended(let record): say(.ended(record))
        case .made, nil: say(.unknown(attempt: attempt))
        }
    }

    private mutating func say(_ message: PerformerEvent.Brief) {
        if warden?.hasDaemon == true { messages.append(message) }
    }

    /// To a daemon that comes: all that is known.
    mutating func greet() {
        for attempt in records.keys.sorted() where records[attempt] != .made { report(attempt) }
        say(.caughtUp)
    }

    // MARK: Its end

    /// Kill -9 of the warden: processes live on, records stay, what was on the way is lost or not.
    func wardenCrashed() -> [World] {
        guard wardenCrashes > 0, warden != nil else { return [] }
        return [
            change {
                $0.wardenCrashes -= 1
                let hadDaemon = $0.warden?.hasDaemon == true
                $0.warden = nil
                $0.commands = []
                $0.orphans = $0.alive
                if hadDaemon, $0.daemon?.isConnected == true { $0.messages.append(.disconnected) }
            }
        ]
    }

    /// The next warden reads the records: an attempt without an outcome is lost; one that still lives, once it has ended.
    mutating func restartWarden() {
        warden = Warden()
        for (attempt, record) in records where record == .made || record == .started {
            if alive.contains(attempt) {
                records[attempt] = .started
            } else {
                records[attempt] = .ended(outcome(attempt, .lost))
            }
        }
    }
}
