import TestSupport
import Testing
import Timeline

@testable import Tracking

@Suite struct `what is shown of a finish time` {
    private func words(_ finish: Double, low: Double? = nil, high: Double? = nil, now: Double = 0) -> String?
    {
        FinishTime(at: at(finish), low: low.map(at), high: high.map(at)).claim(at: at(now))?.words
    }

    @Test(
        arguments: [
            (0.4, "about 1 s left"), (3, "about 3 s left"), (6.4, "about 6 s left"), (12, "about 10 s left"),
            (42, "about 40 s left"), (58, "about 1 min left"), (130, "about 2 min 15 s left"),
            (290, "about 4 min 45 s left"), (500, "about 8 min left"), (3590, "about 1 h left"),
            (52_500, "about 14 h 35 min left"),
        ] as [(Double, String)])
    func `is rounded to what it is worth`(seconds: Double, expected: String) {
        #expect(words(seconds, low: seconds * 0.9, high: seconds * 1.1) == expected)
    }

    @Test func `is a range when the band is wide, and nothing when it is wider`() {
        #expect(words(180, low: 150, high: 210) == "about 3 min left")
        #expect(words(180, low: 120, high: 300) == "2 to 5 min left")
        #expect(words(660, low: 540, high: 830) == "9 to 14 min left")
        #expect(words(60, low: 30, high: 90) == "30 to 90 s left")
        #expect(words(10_000, low: 5000, high: 18_000) == "1 to 5 h left")
        #expect(words(180, low: 60, high: 300) == nil)
    }

    @Test func `begins with a tilde where too few past runs are known`() {
        #expect(words(180) == "~3 min left")
    }

    @Test func `is never zero: what did not come true is not shown`() {
        #expect(words(180, low: 170, high: 190, now: 180) == nil)
        #expect(words(180, now: 400) == nil)
        // The early end has passed, the late one has not.
        #expect(words(180, low: 170, high: 181, now: 179) == "1 to 2 s left")
    }

    @Test func `is what the seconds left follow`() {
        var live = LiveState(task: backup, attempt: 1, seq: 1, state: .running, updatedAt: at(0))
        live.finish = FinishTime(at: at(180), low: at(150), high: at(210))
        #expect(live.secondsRemaining(at: at(0)) == 180)
        live.finish = FinishTime(at: at(180), low: at(30), high: at(210))
        #expect(live.secondsRemaining(at: at(0)) == nil)
    }
}

@Suite struct `a stored profile` {
    private func profile(_ generator: inout SeededGenerator) throws -> RunProfile {
        let family = try #require(JobFamily.allCases.randomElement(using: &generator))
        let times = family.makeHabits(&generator).run(&generator)
        var trace = RunTrace()
        for (index, time) in times.enumerated() {
            trace.note(Double(index + 1) / Double(times.count), at: time)
        }
        return try #require(RunProfile(trace, total: times[times.count - 1]))
    }

    @Test func `is small, and close to the one that was stored`() throws {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<50 {
            let profile = try profile(&generator)
            let bytes = profile.bytes
            #expect(bytes.count == 135)
            let read = try #require(RunProfile(bytes: bytes))
            #expect(read.tellsProgress && abs(read.total - profile.total) < 1e-6 * profile.total)
            #expect(abs(read.largestGap - profile.largestGap) < 1e-6 * profile.total)
            for step in 0...64 {
                let progress = Double(step) / 64
                let shift = abs(read.seconds(at: progress) - profile.seconds(at: progress))
                #expect(shift < 1e-5 * profile.total)
            }
            #expect(read.reached == read.reached.sorted())
        }
    }

    @Test func `of a run without progress is five bytes`() throws {
        let profile = try #require(RunProfile(total: 12.5))
        #expect(profile.bytes.count == 5)
        #expect(RunProfile(bytes: profile.bytes) == profile)
    }

    @Test func `that is damaged, or of a later form, is none`() throws {
        var generator = SeededGenerator(seed: 13)
        let bytes = try profile(&generator).bytes
        for count in 0..<bytes.count where count != 5 {
            #expect(RunProfile(bytes: Array(bytes.prefix(count))) == nil)
        }
        #expect(RunProfile(bytes: bytes + [0]) == nil)
        #expect(RunProfile(bytes: [3] + bytes.dropFirst()) == nil)
        for _ in 0..<5000 {
            var hostile = bytes
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                hostile[Int.random(in: 1..<hostile.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            guard let read = RunProfile(bytes: hostile) else { continue }
            #expect(read.total.isFinite && read.total > 0 && read.reached == read.reached.sorted())
            #expect(read.reached.last == read.total)
        }
    }
}
