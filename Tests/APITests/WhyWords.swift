import API
import Delivery
import Grouping
import TerminalView
import Testing
import Timeline
import Tracking

@testable import belfry

@Suite struct `the words of belfry why` {
    private func verdict(_ reason: String, _ type: EventType, action: String = "send") -> WireVerdict {
        var verdict = WireVerdict(
            at: Timestamp(Moment(seconds: 0)), event: 1, action: action, stage: "route", reason: reason)
        verdict.type = type.rawValue
        verdict.run = "backup#12"
        verdict.channel = "desk"
        if action == "send" { verdict.delivery = WireDelivery(state: "delivered") }
        return verdict
    }

    private func decision(_ reason: String, _ type: EventType, action: String = "send") -> String {
        VerdictWords.decision(of: verdict(reason, type, action: action), Screen(color: .never))
    }

    @Test func `name an event alike where its item is shown and where it is sent`() {
        #expect(VerdictWords.subject(of: verdict("failed", .runFailed)) == "backup#12 failed")
        #expect(decision(RingReason.failed.rawValue, .runFailed) == "sent: the job failed")
        #expect(decision(RunReason.exitCode.rawValue, .runFailed) == "sent: the job failed")
        #expect(decision(RingReason.recovered.rawValue, .runRecovered) == "sent: the job recovered")
        #expect(decision("completed", .runCompleted) == "sent: the run completed")
        #expect(decision(RunReason.canceled.rawValue, .runCanceled) == "sent: the run was cancelled")
    }

    @Test func `say that a notice was sent only once it was`() {
        func decision(_ state: String?, _ waitsFor: String? = nil, error: String? = nil) -> String {
            var verdict = verdict("failed", .runFailed)
            verdict.delivery = state.map { WireDelivery(state: $0) }
            verdict.delivery?.waitsFor = waitsFor
            verdict.delivery?.error = error
            return VerdictWords.decision(of: verdict, Screen(color: .never))
        }
        #expect(decision("delivered") == "sent: the job failed")
        #expect(decision(nil) == "routed to desk: the job failed")
        #expect(decision("waits") == "routed to desk; under way (the job failed)")
        #expect(
            decision("waits", "away", error: "no desktop here")
                == "routed to desk; waits: no desktop here (the job failed)")
        #expect(
            decision("waits", "channelFailing", error: "status 500")
                == "routed to desk; waits: again soon, its channel fails (status 500) (the job failed)")
        #expect(decision("replaced") == "replaced by a later version: the job failed")
        #expect(decision("withdrawn") == "taken back before it was shown: the job failed")
        #expect(decision("dead", error: "status 410") == "not delivered: status 410 (the job failed)")
        #expect(decision("expired") == "not delivered in time (the job failed)")
        #expect(decision("discarded") == "discarded by hand: the job failed")
    }

    @Test func `name the reason of a channel, of the daemon and of a stage`() {
        #expect(decision(DeliveryReason.timeout.rawValue, .channelFailing) == "sent: no answer in time")
        #expect(decision(DaemonReason.room.rawValue, .ledgerRestored) == "sent: the disk has room again")
        #expect(
            decision(DispatchReason.noRoute.rawValue, .runFailed, action: "suppress")
                == "not sent: no route names it")
        #expect(decision(RingReason.sameFailure.rawValue, .runFailed).hasPrefix("sent silently: "))
    }
}
