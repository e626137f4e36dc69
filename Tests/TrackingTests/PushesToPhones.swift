import TestSupport
import Testing

@testable import Tracking

@Suite struct `progress on a phone` {
    private func live(
        _ state: RunState = .running, progress: Double? = nil, finish: Double? = nil, message: String? = nil
    ) -> LiveState {
        var live = LiveState(task: backup, attempt: 1, seq: 1, state: state, updatedAt: at(0))
        (live.progress, live.message) = (progress, message)
        live.finish = finish.map { FinishTime(at: at($0)) }
        return live
    }

    @Test func `is pushed at the start, when it waits, and at the end, at once`() {
        var governor = PushGovernor()
        #expect(governor.push(live(), at: at(0)) == .init(cause: .start, isUrgent: true))
        #expect(governor.push(live(progress: 0.5), at: at(1)) == nil)
        #expect(governor.push(live(.blocked), at: at(2)) == .init(cause: .blocked, isUrgent: true))
        #expect(governor.push(live(progress: 0.5), at: at(3)) == .init(cause: .blocked, isUrgent: true))
        #expect(governor.push(live(.completed), at: at(4)) == .init(cause: .end, isUrgent: true))
        #expect(governor.push(live(.completed), at: at(100)) == nil)
    }

    @Test func `comes every 15 s at most, the newest of what there is, and only where it looks otherwise`() {
        var governor = PushGovernor()
        _ = governor.push(live(), at: at(0))
        #expect(governor.push(live(progress: 0.1), at: at(14)) == nil)
        #expect(governor.nextPush(of: live(progress: 0.1)) == at(15))
        #expect(governor.push(live(progress: 0.2), at: at(15)) == .init(cause: .change, isUrgent: false))
        #expect(governor.push(live(progress: 0.2001), at: at(60)) == nil)
        #expect(governor.nextPush(of: live(progress: 0.2001)) == nil)
    }

    @Test func `is urgent where the finish moved by two minutes and a fifth of what is left`() {
        var governor = PushGovernor()
        _ = governor.push(live(finish: 1000), at: at(0))
        #expect(governor.push(live(finish: 1100), at: at(20)) == nil)
        #expect(governor.push(live(finish: 1300), at: at(40))?.cause == .finish)
        #expect(governor.push(live(finish: 9000), at: at(60)) == .init(cause: .finish, isUrgent: true))
        #expect(governor.push(live(finish: 9600), at: at(80)) == nil)
    }

    @Test func `is repeated before it is out of date`() {
        var governor = PushGovernor()
        var state = live(progress: 0.5)
        state.staleAt = at(120)
        _ = governor.push(state, at: at(0))
        // Of a run that is silent nothing is new, however long.
        #expect(governor.nextPush(of: state) == nil)
        #expect(governor.push(state, at: at(100)) == nil)
        #expect(governor.nextPush(of: state) == nil)
        state.staleAt = at(200)
        #expect(governor.nextPush(of: state) == at(90))
        #expect(governor.push(state, at: at(80)) == nil)
        #expect(governor.push(state, at: at(90))?.cause == .stale)
    }

    @Test func `ends on the phone before that ends it by itself, however silent the run is`() {
        let life = (7 * 60 + 45) * 60.0
        var governor = PushGovernor()
        var state = live(progress: 0.5)
        state.startedAt = at(0)
        _ = governor.push(state, at: at(0))
        #expect(governor.nextPush(of: state) == at(life))
        #expect(governor.push(state, at: at(life - 1)) == nil)
        // Whatever was pushed a moment before.
        state.progress = 0.6
        #expect(governor.push(state, at: at(life - 1))?.cause == .change)
        #expect(governor.nextPush(of: state) == at(life))
        #expect(governor.push(state, at: at(life)) == .init(cause: .life, isUrgent: true))
        #expect(governor.nextPush(of: state) == nil)
        #expect(governor.push(state, at: at(life + 60)) == nil)
        // A daemon that was started later than that has pushed nothing yet.
        var other = PushGovernor()
        #expect(other.push(state, at: at(life + 60))?.cause == .life)
        state.state = .completed
        #expect(governor.push(state, at: at(life + 90))?.cause == .end)
    }

    /// Eight hours of a job that does what it can to be pushed: blocks, goes on, and moves its finish about.
    @Test(arguments: [UInt64(1), 2, 3])
    func `is urgent twelve times an hour at most, all day, and its end always comes`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var governor = PushGovernor()
        var urgent: [Double] = []
        var last = -100.0
        for second in stride(from: 0.0, to: 8 * 3600, by: 5) {
            var state = live(
                Bool.random(using: &generator) ? .blocked : .running, progress: second / 28_800,
                finish: second + .random(in: 100...20_000, using: &generator), message: "step \(second)")
            state.staleAt = at(second + 120)
            guard let push = governor.push(state, at: at(second)) else { continue }
            if push.isUrgent { urgent.append(second) }
            if push.cause != .blocked, push.cause != .start { #expect(second - last >= 15) }
            last = second
        }
        for first in urgent { #expect(urgent.count { $0 >= first && $0 < first + 3600 } <= 12) }
        #expect(urgent.count > 50)
        #expect(governor.push(live(.failed), at: at(8 * 3600))?.cause == .end)
    }
}
