import Engine
import Ledger
import Testing
import Timeline
import Tracking

/// Slots drawn as marbles.
///
/// One place a minute from 10:00 on, the bar is now. In the answer `r` runs, `o` overlapped, `p` was paused, `s` was
/// superseded, `n` missed because nothing is caught up, `w` missed because it is too old, `b` because so many are not
/// caught up at once.
struct SlotMarbles: CustomTestStringConvertible {
    var slots: String
    var catchUp = CatchUpPolicy.standard
    var isPaused = false
    var isBusy = false
    var out: String

    var testDescription: String { "\(slots) to \(out)" }

    /// What the decider says, drawn.
    func decided() -> String {
        let minutes = Array(slots)
        let now = at("10:00:00") + .seconds(60 * (minutes.firstIndex(of: "|") ?? minutes.count))
        let decider = SlotDecider(catchUp: catchUp, isPaused: isPaused, isBusy: isBusy)
        let moments = minutes.indices.filter { minutes[$0] == "x" }.map { minute($0) }
        var drawn = minutes.map { $0 == "x" ? Character("?") : $0 }
        for decision in decider.decide(SlotTimes(moments), after: at("09:59:59"), through: now, at: now) {
            switch decision {
            case .run(let slot): drawn[index(of: slot)] = "r"
            case .pass(let first, let last, let count, _, let reason):
                let covered = moments.filter { first <= $0 && $0 <= last }
                guard covered.count == count else { return "a span that counts \(count)" }
                for slot in covered {
                    guard drawn[index(of: slot)] == "?" else { return "decided twice" }
                    drawn[index(of: slot)] = Self.letters[reason.rawValue] ?? "!"
                }
            }
        }
        return String(drawn)
    }

    private static let letters: [String: Character] = [
        "overlap": "o", "paused": "p", "superseded": "s", "catchUpNone": "n", "catchUpWindow": "w",
        "catchUpBurst": "b", "definitionChanged": "d",
    ]

    private func minute(_ index: Int) -> Moment { at("10:00:00") + .seconds(60 * index) }
    private func index(of slot: Moment) -> Int { Int((slot - at("10:00:00")).microseconds / 60_000_000) }
}

@Suite struct `slots that have come` {
    static let none = CatchUpPolicy(mode: .none, within: .zero)
    static let all = CatchUpPolicy(mode: .all, within: .seconds(300), burst: 3)
    static let withinThree = CatchUpPolicy(mode: .latest, within: .seconds(180))

    @Test(arguments: [
        // On time: within a minute, whatever the policy.
        SlotMarbles(slots: "x|", out: "r|"),
        SlotMarbles(slots: "x|", catchUp: none, out: "r|"),
        SlotMarbles(slots: "--x|", catchUp: none, out: "--r|"),
        SlotMarbles(slots: "|", out: "|"),
        // The job is still at it.
        SlotMarbles(slots: "x|", isBusy: true, out: "o|"),
        SlotMarbles(slots: "xxx-|", isBusy: true, out: "sso-|"),
        // Nobody decided for a while.
        SlotMarbles(slots: "xxxx|", catchUp: none, out: "nnnr|"),
        SlotMarbles(slots: "xx--|", catchUp: none, out: "nn--|"),
        SlotMarbles(slots: "xxx--|", out: "ssr--|"),
        SlotMarbles(slots: "xxxxx|", out: "ssssr|"),
        SlotMarbles(slots: "x-x---|", catchUp: withinThree, out: "w-w---|"),
        SlotMarbles(slots: "x-x-x--|", catchUp: withinThree, out: "w-w-r--|"),
        SlotMarbles(slots: "xxxxxx|", catchUp: withinThree, out: "wwwssr|"),
        // All of it, in turn.
        SlotMarbles(slots: "xx-|", catchUp: all, out: "rr-|"),
        SlotMarbles(slots: "xxxx|", catchUp: all, out: "rrrr|"),
        SlotMarbles(slots: "xxxxx|", catchUp: all, out: "brrrr|"),
        SlotMarbles(slots: "xxxxxxx|", catchUp: all, out: "wwbrrrr|"),
        SlotMarbles(slots: "x------|", catchUp: all, out: "w------|"),
        SlotMarbles(slots: "xx-|", catchUp: all, isBusy: true, out: "oo-|"),
        // Held still by a person.
        SlotMarbles(slots: "xxxx|", isPaused: true, out: "pppp|"),
        SlotMarbles(slots: "xxxx|", catchUp: none, isPaused: true, isBusy: true, out: "pppp|"),
    ])
    func `run, or have a reason not to`(_ marbles: SlotMarbles) {
        #expect(marbles.decided() == marbles.out)
    }

    @Test func `of a whole month make one run and one span`() {
        let decider = SlotDecider(catchUp: .standard, isPaused: false, isBusy: false)
        let slots = stride(from: 0, to: 43_200, by: 1).map { at("00:00:00") + .seconds(60 * $0) }
        let now = at("00:00:00") + .seconds(60 * 43_200 + 3600)
        let decisions = decider.decide(
            SlotTimes(slots), after: slots[0] - .seconds(1), through: now, at: now)
        #expect(
            decisions == [
                .pass(
                    first: slots[0], last: slots[41_819], count: 41_820, state: .missed,
                    reason: .catchUpWindow),
                .pass(
                    first: slots[41_820], last: slots[43_198], count: 1379, state: .skipped,
                    reason: .superseded),
                .run(slots[43_199]),
            ])
    }

    /// Five slots of the last seconds, which are decided together.
    private func decideSeconds(_ catchUp: CatchUpPolicy, isBusy: Bool) -> [SlotDecider.Decision] {
        let decider = SlotDecider(catchUp: catchUp, isPaused: false, isBusy: isBusy)
        return decider.decide(
            SlotTimes(Self.seconds), after: at("09:59:00"), through: at("10:00:04"), at: at("10:00:04"))
    }

    static let seconds = (0..<5).map { at("10:00:00") + .seconds($0) }

    @Test(arguments: [CatchUpPolicy.standard, none])
    func `within one second of each other run once, the newest, and nothing is said to overlap`(
        catchUp: CatchUpPolicy
    ) {
        let (first, last) = (Self.seconds[0], Self.seconds[3])
        #expect(
            decideSeconds(catchUp, isBusy: false) == [
                .pass(first: first, last: last, count: 4, state: .skipped, reason: .superseded),
                .run(Self.seconds[4]),
            ])
    }

    @Test func `within one second of each other run in turn when every one counts`() {
        #expect(decideSeconds(Self.all, isBusy: false) == Self.seconds.map { .run($0) })
        let (first, last) = (Self.seconds[0], Self.seconds[4])
        #expect(
            decideSeconds(Self.all, isBusy: true) == [
                .pass(first: first, last: last, count: 5, state: .skipped, reason: .overlap)
            ])
    }
}
