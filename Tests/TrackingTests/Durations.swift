import Testing
import Timeline
import Tracking

@Suite struct `a duration in words` {
    @Test(arguments: [
        (0, "under 1 s"), (-5, "under 1 s"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"),
        (3600, "1 h"), (3605, "1 h"), (11_100, "3 h 5 min"), (86_400, "1 d"), (183_600, "2 d 3 h"),
    ])
    func `has its two largest units`(_ seconds: Int, _ words: String) {
        #expect(Duration.seconds(seconds).words == words)
    }
}
