import Glibc
import Host

/// What processes that a command left behind still print, once `belfry exec` itself has returned.
///
/// Without Belfry they would hold its standard output themselves: whoever reads a pipe to its end waits for
/// them, and the shell does not. A small process of its own does that in their place, as long as they print.
enum ExecRest {
    /// The hidden command that does it: our descriptors 1 and 2, and what is copied there as 3 and 4.
    static let command = "exec-rest"

    /// Where the stream of this number comes from in that process.
    static func source(_ number: Int) -> Int32 { Int32(number) + 2 }

    /// Starts it for these streams, by number.
    static func leave(_ streams: [Int: Descriptor]) throws(HostError) {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        var (sources, targets) = ([nothing, nothing], [nothing, nothing])
        for (number, source) in streams {
            sources[number - 1] = source
            targets[number - 1] = try Descriptor.duplicate(of: Int32(number))
        }
        let program = ChildProgram(
            path: try Machine.executablePath(),
            arguments: ["belfry", command] + streams.keys.sorted().map(String.init),
            environment: Machine.environment, folder: "/", descriptors: [nothing] + targets + sources)
        _ = try program.start()
    }
}
