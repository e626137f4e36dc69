import Testing
import Timeline

@testable import Warden

@Suite struct `the tick of a start` {
    private var ticks = StartTicks(perSecond: 100)
    private let noon = Duration.seconds(43_200)

    /// What is said of a start between two times, milliseconds after noon, and whether the kernel was asked.
    private mutating func start(_ from: Int, _ to: Int, kernel: UInt64?) -> (tick: UInt64, isAsked: Bool) {
        var isAsked = false
        let tick = ticks.tick(from: noon + .milliseconds(from), to: noon + .milliseconds(to)) {
            isAsked = true
            return kernel
        }
        return (tick, isAsked)
    }

    @Test mutating func `is asked for once, and known after that when it was right`() {
        #expect(start(11, 12, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(25, 29, kernel: nil) == (4_320_002, false))
        #expect(start(30, 30, kernel: nil) == (4_320_003, false))
    }

    @Test mutating func `is asked for when the clock left it during the start`() {
        #expect(start(11, 12, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(19, 20, kernel: 4_320_002) == (4_320_002, true))
        #expect(start(19, 20, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(21, 22, kernel: nil) == (4_320_002, false))
    }

    @Test mutating func `is asked for every time where the kernel counts by another clock`() {
        #expect(start(11, 12, kernel: 77) == (77, true))
        #expect(start(13, 14, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(15, 16, kernel: 78) == (78, true))
    }

    @Test mutating func `proves nothing when the kernel does not answer`() {
        #expect(start(11, 12, kernel: nil) == (0, true))
        #expect(start(13, 14, kernel: 77) == (77, true))
        #expect(start(15, 16, kernel: 78) == (78, true))
    }
}
