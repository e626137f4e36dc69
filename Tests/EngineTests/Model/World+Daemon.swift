import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

// What the daemon may do next. Its two loops, of slots and of runs, mix freely; the one of runs does one thing at a time.

extension World {
    func daemonSteps() -> [World] {
        guard let daemon else { return [change { $0.daemon = Daemon() }] }
        var next: [World] = []
        if run == nil { next.append(change { $0.decideSlot() }) }
        if cancels, run.map({ !$0.state.isEnded }) == true {
            next.append(change { $0.askEnd() })
        }
        if let decision = daemon.decision {
            next.append(change { $0.commit(decision) })
        } else if !daemon.effects.isEmpty {
            next.append(change { $0.applyEffect() })
        } else if !daemon.hasTakenUp {
            next.append(change { $0.takeUp() })
        } else {
            if !daemon.isConnected, messages.isEmpty { next.append(change { $0.connect() }) }
            if !messages.isEmpty { next.append(change { $0.take($0.messages.removeFirst()) }) }
            next += turn(daemon)
        }
        return next
    }

    /// What waits: the run is claimed, or withdrawn, or its end asked for.
    private func turn(_ daemon: Daemon) -> [World] {
        guard let run else { return [] }
        if daemon.strays.keys.contains(where: { isOver($0) }) { return [change { $0.letGo() }] }
        if daemon.hand == nil, RunDecider.alive.contains(run.state) {
            return [change { $0.adopt(run) }]
        }
        if run.state == .queued, daemon.hand == nil {
            if run.endAsked != nil { return [change { $0.decide(.withdraw, run) }] }
            // Time passes until what is left of the attempt before has ended; a few times it is asked too early.
            let comesTooEarly = !rules.stays && run.token > 4 && !alive.union(left).isEmpty
            return daemon.isConnected && !comesTooEarly ? [change { $0.claim(run) }] : []
        }
        if let hand = daemon.hand, run.endAsked != nil, hand.record.endAsked == nil {
            return [
                change {
                    $0.daemon?.hand?.record.endAsked = run.endAsked
                    if hand.isOrdered { $0.send(.cancel(attempt: hand.record.attempt)) }
                }
            ]
        }
        return []
    }

    func change(_ body: (inout World) -> Void) -> World {
        var next = self
        body(&next)
        return next
    }

    // MARK: Slots and people

    private mutating func decideSlot() {
        let decider = SlotDecider(catchUp: .standard, isPaused: false, overlap: .skip, isBusy: false)
        guard decider.decide([Self.slot], at: Self.now) == [.run(Self.slot)] else { return }
        run = RunRecord(
            id: "r", job: "job", bot: "belfry", kind: .scheduled, cause: RunCause.slot(Self.slot, era: 0),
            slot: Self.slot, queuedAt: Self.now, revision: 1)
    }

    private mutating func askEnd() {
        cancels = false
        if run?.endAsked == nil { run?.endAsked = .canceled }
    }

    // MARK: The keeper of runs

    private mutating func takeUp() {
        daemon?.hasTakenUp = true
        if let run, RunDecider.alive.contains(run.state) { adopt(run) }
    }

    private mutating func adopt(_ run: RunRecord) {
        decide(.adopt, run)
        let record = decider.adopt(run).after
        daemon?.hand = Hand(record: record, isOrdered: true, isKnown: false)
    }

    private mutating func connect() {
        if warden == nil { restartWarden() }
        daemon?.isConnected = true
        daemon?.hand?.isKnown = false
        daemon?.hand?.isAsked = false
        daemon?.strays = [:]
        commands = []
        warden?.hasDaemon = true
        greet()
    }

    private mutating func claim(_ run: RunRecord) {
        decide(.claim, run)
        let record = decider.claim(run).after
        daemon?.hand = Hand(record: record, isOrdered: false, isKnown: true)
    }

    private mutating func decide(_ fact: Fact, _ run: RunRecord) {
        daemon?.decision = Decision(fact: fact, run: run)
    }

    private mutating func take(_ message: PerformerEvent.Brief) {
        switch message {
        case .disconnected: daemon?.isConnected = false
        case .caughtUp:
            guard let hand = daemon?.hand, hand.isOrdered else { return }
            if hand.record.endAsked != nil {
                daemon?.hand?.isAsked = true
                send(.cancel(attempt: hand.record.attempt))
            } else if !hand.isKnown {
                daemon?.hand?.isAsked = true
                send(.query(attempt: hand.record.attempt))
            }
        case .started(let attempt):
            guard let hand = known(attempt) else {
                daemon?.strays[attempt] = .cancel(attempt: attempt)
                return
            }
            if hand.record.state == .starting { decideInHand(.started(attempt: attempt)) }
        case .refused(let attempt, let refusal):
            guard known(attempt) != nil else { return }
            decideInHand(.refused(refusal, waited: waited))
            daemon?.refusals += 1
        case .ended(let record):
            let attempt = record.key.attempt
            guard known(attempt) != nil else {
                daemon?.strays[attempt] = .acknowledge(attempt: attempt)
                return
            }
            daemon?.strays[attempt] = nil
            decideInHand(.ended(record))
        case .unknown(let attempt):
            guard daemon?.hand?.isAsked == true, known(attempt) != nil else { return }
            decideInHand(.vanished)
        }
    }

    /// How long this daemon has seen the next attempt wait for what is left of the one before.
    private var waited: Duration { RunDecider.leftoverInterval * (daemon?.refusals ?? 0) }

    private mutating func known(_ attempt: Int) -> Hand? {
        guard daemon?.hand?.record.attempt == attempt else { return nil }
        daemon?.hand?.isKnown = true
        daemon?.hand?.isAsked = false
        return daemon?.hand
    }

    private mutating func decideInHand(_ fact: Fact) {
        guard let record = daemon?.hand?.record else { return }
        decide(fact, record)
        let after = step(Decision(fact: fact, run: record)).after
        daemon?.hand?.record = after
    }

    func step(_ decision: Decision) -> RunStep {
        let run = decision.run
        switch decision.fact {
        case .adopt: return decider.adopt(run)
        case .claim: return decider.claim(run)
        case .withdraw: return decider.withdrawn(run, at: Self.now)
        case .vanished: return decider.vanished(run, outlook: Outlook(chance: chance), at: Self.now)
        case .started: return decider.started(run, StartedProcess(pid: 7, startTime: 1), at: Self.now)
        case .refused(let refusal, let waited):
            return decider.refused(
                run, refusal, text: "", outlook: Outlook(chance: chance), waited: waited, at: Self.now)
        case .ended(let record): return decider.ended(run, record, outlook: Outlook(chance: chance))
        }
    }

    private mutating func commit(_ decision: Decision) {
        let step = step(decision)
        daemon?.decision = nil
        if commit(step) {
            daemon?.effects = step.effects
        } else {
            daemon?.hand = nil
            for case .acknowledge(let key) in step.effects {
                daemon?.strays[key.attempt] = .acknowledge(attempt: key.attempt)
            }
            letGo()
        }
    }

    private mutating func applyEffect() {
        guard let effect = daemon?.effects.removeFirst() else { return }
        switch effect {
        case .acknowledge(let key): send(.acknowledge(attempt: key.attempt))
        case .ask(let key):
            daemon?.hand?.isAsked = true
            send(.query(attempt: key.attempt))
        case .start:
            guard let hand = daemon?.hand else { return }
            daemon?.hand?.isOrdered = true
            let endsLeft = hand.record.attempt > 1 && spec.endsLeftovers(afterWaiting: waited)
            send(.start(attempt: hand.record.attempt, endsLeft: endsLeft))
            if hand.record.endAsked != nil { send(.cancel(attempt: hand.record.attempt)) }
        // The model's job wants nothing to be so at its end.
        case .check: break
        // Nobody pauses it.
        case .pause, .resume: break
        // No bot is asked.
        case .park: break
        case .wait, .end: daemon?.hand = nil
        }
    }

    /// Whether the attempt's row says that it has ended.
    private func isOver(_ attempt: Int) -> Bool {
        guard let run, !run.state.isEnded else { return true }
        return attempt < run.attempt
    }

    private mutating func letGo() {
        for (attempt, answer) in (daemon?.strays ?? [:]).sorted(by: { $0.key < $1.key }) where isOver(attempt)
        {
            daemon?.strays[attempt] = nil
            send(answer)
        }
    }

    private mutating func send(_ command: Command) {
        // Without a connection nothing is sent.
        if warden?.hasDaemon == true { commands.append(command) }
    }

    // MARK: Its end

    /// Kill -9.
    ///
    /// What it had on the way to the disk may still arrive there, or not; what it sent is lost unless it was
    /// received before.
    func daemonCrashed() -> [World] {
        guard daemonCrashes > 0, let daemon else { return [] }
        let crashed = change {
            $0.daemonCrashes -= 1
            $0.daemon = nil
            $0.commands = []
            $0.messages = []
            $0.warden?.hasDaemon = false
        }
        guard let decision = daemon.decision, late == nil else { return [crashed] }
        return [crashed, crashed.change { $0.late = decision }]
    }

    /// What a daemon that was killed had sent arrives now.
    func lateArrivals() -> [World] {
        guard let late else { return [] }
        return [
            change {
                $0.late = nil
                _ = $0.commit($0.step(late))
            }
        ]
    }
}
