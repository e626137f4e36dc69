import API
import ArgumentParser
import Glibc
import Host

/// What processes that a command left behind still print, once `belfry exec` itself has returned.
///
/// Without Belfry they would hold its standard output themselves: whoever reads a pipe to its end waits for
/// them, and the shell does not. A small process of its own does that in their place, as long as they print.
enum OutputRelay {
    /// The hidden command that does it: our descriptors 1 and 2, and what is copied there as 3 and 4.
    static let command = "relay-output"

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

/// See ``OutputRelay``, which starts it.
struct OutputRelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OutputRelay.command, abstract: "Copies what processes left behind by belfry exec print.",
        shouldDisplay: false)

    @Argument(help: "The streams, 1 and 2.")
    var streams: [Int]

    func validate() throws {
        let isOpen = streams.allSatisfy {
            (1...2).contains($0) && Descriptor.isPipe(OutputRelay.source($0))
        }
        guard isOpen, Set(streams).count == streams.count else {
            throw ValidationError("belfry exec starts this itself")
        }
    }

    func run() throws {
        Signals.ignoreBrokenPipes()
        var pumps: [Int: OutputPump] = [:]
        for number in streams {
            pumps[number] = OutputPump(Descriptor(owning: OutputRelay.source(number)), to: Int32(number))
        }
        let poll = try EventPoll()
        let output = try ExecOutput(pumps, on: poll)
        var open = Set(streams)
        while !output.isDone {
            for ready in try poll.wait() { serve(ready.token, output) }
            if let fault = output.fault, open.contains(fault.number) {
                StandardError.print("belfry: \(ExecOutput.sentence(of: fault))")
            }
            // Whoever waits for the end of one stream does not wait for the other.
            for number in open where !output.copies(number) {
                close(Int32(number))
                open.remove(number)
            }
        }
    }

    private func serve(_ token: UInt64, _ output: ExecOutput) {
        for number in streams {
            if token == ExecOutput.source(number) { _ = output.copy(number) }
            if token == ExecOutput.room(number) { _ = output.resume(number) }
        }
    }
}
