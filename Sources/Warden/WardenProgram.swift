import CLinux
import Glibc
package import Host

/// The program around ``Warden``: arguments, the ready line, exit codes.
package enum WardenProgram {
    /// Runs and ends the process: 0 when there was nothing more to do, 1 when it could not work, 2 for
    /// arguments that make no sense.
    package static func main(_ arguments: [String]) -> Never {
        switch WardenOptions.parse(Array(arguments.dropFirst())) {
        case .help:
            show(WardenOptions.usage, to: 1)
            exit(0)
        case .refuse(let reason):
            show("belfry-warden: \(reason)\n\(WardenOptions.usage)", to: 2)
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
                text += ": daemon and warden must run as the same user"
            }
            show("belfry-warden: \(text)\n", to: 2)
            try? ready?.writeAll(Array("\(text)\n".utf8)[...])
            exit(1)
        }
    }

    private static func show(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        unsafe write(descriptor, bytes, bytes.count)
    }
}

/// What `belfry-warden` was called with.
package struct WardenOptions: Hashable, Sendable {
    /// `--directory`: the warden's own folder.
    ///
    /// Made when missing, owner only.
    package var directory: String
    /// `--state`: where outcomes are saved while no daemon listens; nil for nowhere.
    package var state: String?
    /// `--until-idle`: end after 10 s without run and daemon.
    package var endsWhenIdle = false
    /// False with `--no-control-groups`: processes are found by their parents alone, as where there is no
    /// cgroup2 to write to.
    package var usesControlGroups = true
    /// `--ready-fd`: a descriptor that gets one line when the warden listens: empty, or why it does not.
    package var readyDescriptor: Int32?

    /// What the arguments ask for.
    package enum Request: Hashable, Sendable {
        /// Do the work.
        case run(WardenOptions)
        /// Do it in the folders of a daemon, see ``WardenOptions/placed(for:environment:)``.
        case serve(Paths.Owner, WardenOptions)
        /// Print ``usage`` and end.
        case help
        /// The arguments make no sense; why, as a sentence.
        case refuse(String)
    }

    /// How to call it.
    package static let usage = """
        usage: belfry-warden [--system | --directory DIR [--state DIR]] [--until-idle] [--ready-fd N]
                             [--no-control-groups]
        Starts jobs for belfryd and outlives it. TERM ends it as soon as it has no run.
        Without a folder it serves this user's daemon, with --system the machine's.

        """

    /// Reads the arguments that follow the program's name.
    package static func parse(_ arguments: [String]) -> Request {
        var options = WardenOptions(directory: "")
        var owner: Paths.Owner?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return .help
            case "--no-control-groups": options.usesControlGroups = false
            case "--until-idle": options.endsWhenIdle = true
            case "--system": owner = .system
            case "--directory", "--state", "--ready-fd":
                guard let value = rest.popFirst() else { return .refuse("\(argument) needs a value") }
                switch argument {
                case "--directory": options.directory = value
                case "--state": options.state = value
                default:
                    guard let number = Int32(value), number > 2 else {
                        return .refuse("--ready-fd takes a number above 2, not \"\(value)\"")
                    }
                    options.readyDescriptor = number
                }
            default: return .refuse("unknown argument \"\(argument)\"")
            }
        }
        if options.directory.isEmpty {
            guard options.state == nil else { return .refuse("--state needs a --directory, too") }
            return .serve(owner ?? .user, options)
        }
        guard owner == nil else { return .refuse("--system and --directory exclude each other") }
        guard options.directory.hasPrefix("/") else { return .refuse("--directory needs an absolute path") }
        guard options.state?.hasPrefix("/") ?? true else { return .refuse("--state needs an absolute path") }
        return .run(options)
    }

    /// The same in the folders where a daemon of `owner` looks for its warden.
    ///
    /// Makes the daemon's folders where they are missing, since the warden's is named after the real path
    /// of the state.
    package func placed(
        for owner: Paths.Owner, environment: [String: String] = Machine.environment
    ) throws(HostError) -> WardenOptions {
        let paths = Paths(owner, environment: environment)
        try paths.makeFolders()
        var options = self
        options.directory = paths.warden
        options.state = paths.state
        return options
    }
}
