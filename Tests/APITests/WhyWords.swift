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

    @Test func `name the reason of a channel, of the daemon and of a stage`() {
        #expect(decision(DeliveryReason.timeout.rawValue, .channelFailing) == "sent: no answer in time")
        #expect(decision(DaemonReason.room.rawValue, .ledgerRestored) == "sent: the disk has room again")
        #expect(
            decision(DispatchReason.noRoute.rawValue, .runFailed, action: "suppress")
                == "not sent: no route names it")
        #expect(decision(RingReason.sameFailure.rawValue, .runFailed).hasPrefix("sent silently: "))
    }
}
