import CLinux
import Glibc
import Host

/// The program around ``Warden``: arguments, the ready line, exit codes.
package enum WardenProgram {
    /// Runs and ends the process: 0 when there was nothing more to do, 1 when it could not work, 2 for
    /// arguments that make no sense.
    package static func main(_ arguments: [String]) -> Never {
        switch WardenOptions.parse(Array(arguments.dropFirst())) {
        case .help:
            say(WardenOptions.usage, to: 1)
            exit(0)
        case .refuse(let reason):
            say("belfry-warden: \(reason)\n\(WardenOptions.usage)", to: 2)
            exit(2)
        case .run(let options): work(options)
        case .serve(let owner, let options): work(options, for: owner)
        }
    }

    private static func work(_ options: WardenOptions, for owner: Paths.Owner? = nil) -> Never {
        // Descriptors 0 to 2 exist from here on, so that no pipe of a job ever gets their numbers.
        while true {
            let filler = unsafe clinux_open("/dev/null", O_RDWR, 0)
            if filler > 2 { close(filler) }
            if filler < 0 || filler > 2 { break }
        }
        var ready = options.readyDescriptor.map(Descriptor.init(owning:))
        do throws(HostError) {
            var options = options
            if let owner { options = try options.placed(for: owner) }
            let warden = try Warden(options)
            try? ready?.writeAll([0x0A])
            if ready == nil { try? ServiceManager.sayReady() }
            ready = nil
            try warden.run()
            exit(0)
        } catch {
            var text = "\(error)"
            if case .notOurs(let path) = error, PrivateFolder.otherOwner(of: path) != nil {
                text += ": daemon and warden must be of one user"
            }
            say("belfry-warden: \(text)\n", to: 2)
            try? ready?.writeAll(Array("\(text)\n".utf8)[...])
            exit(1)
        }
    }

    private static func say(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        unsafe write(descriptor, bytes, bytes.count)
    }
}
