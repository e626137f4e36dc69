import CLinux
import Glibc

/// A program to start in its own session, with nothing inherited but what is named here.
package struct ChildProgram: Sendable {
    /// The file to run; it is not searched for.
    package var path: String
    /// Its arguments, the first one being its own name.
    package var arguments: [String]
    /// Its whole environment.
    package var environment: ChildEnvironment
    /// The folder it starts in; nil for this process's own.
    package var folder: String?
    /// What becomes its descriptors 0, 1, 2 and so on; it inherits no other.
    package var descriptors: [Descriptor]
    /// Which of ``descriptors`` is a terminal that becomes its controlling one; nil for none.
    package var terminal: Int?
    /// The folder of a cgroup2 in which it begins; nil for this process's own.
    package var controlGroup: Descriptor?
    /// Its file mode mask; nil for this process's own.
    package var mask: UInt32?
    /// Its scheduling priority, -20 (first) to 19 (last); nil for this process's own.
    package var priority: Int?
    /// The most it may use of each resource, by the kernel's number of it.
    ///
    /// Without one of open files it has the limit that this process had before ``DescriptorLimit/raise(to:)``.
    ///
    /// - Source: getrlimit(2).
    package var limits: [Int: UInt64] = [:]
    /// How soon the kernel ends it when memory runs out, -1000 to 1000; nil for this process's own.
    ///
    /// Left as it is where the kernel does not let us set it.
    package var oomScore: Int?

    /// Describes the program; starts nothing.
    package init(
        path: String, arguments: [String], environment: ChildEnvironment, folder: String? = nil,
        descriptors: [Descriptor]
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
        self.descriptors = descriptors
    }

    /// As ``init(path:arguments:environment:folder:descriptors:)``, with these variables and no others.
    package init(
        path: String, arguments: [String], environment: [String: String], folder: String? = nil,
        descriptors: [Descriptor]
    ) {
        self.init(
            path: path, arguments: arguments, environment: ChildEnvironment(environment), folder: folder,
            descriptors: descriptors)
    }

    /// Starts it and returns its process id, which is also its session and process group.
    ///
    /// Signals are unblocked and back at their defaults in it. A program, folder or limit that cannot be
    /// used is thrown here, with the call that failed and its errno; nothing is left of it then.
    ///
    /// The corresponding C function is `posix_spawn`, which knows no control group, terminal or limit.
    package func start() throws(HostError) -> Int32 {
        // A descriptor that already has the number of a later target would be overwritten: park it above.
        var parked: [Descriptor] = []
        var places: [Int32] = []
        for (target, descriptor) in descriptors.enumerated() {
            var source = descriptor.raw
            if source < descriptors.count, source != target {
                let above = try Descriptor(
                    clinux_fcntl(source, F_DUPFD_CLOEXEC, Int32(descriptors.count)), call: "fcntl")
                parked.append(above)
                source = above.raw
            }
            places.append(source)
        }
        let bounds = limits.map { clinux_limit(resource: UInt64($0.key), most: $0.value) }
        var own = CStrings([path, folder ?? "", oomScore.map(String.init) ?? ""])
        var words = CStrings(arguments)
        var variables = environment.lines
        var failure: HostError?
        let pid = unsafe own.withPointers { own in
            unsafe words.withPointers { arguments in
                unsafe variables.withPointers { variables in
                    unsafe places.withUnsafeBufferPointer { places in
                        unsafe bounds.withUnsafeBufferPointer { bounds in
                            var program = unsafe clinux_program()
                            unsafe program.path = UnsafePointer(own[0])
                            unsafe program.arguments = arguments
                            unsafe program.environment = variables
                            unsafe program.folder = folder == nil ? nil : UnsafePointer(own[1])
                            unsafe program.descriptors = places.baseAddress
                            unsafe program.descriptor_count = Int32(places.count)
                            unsafe program.terminal = terminal.map(Int32.init) ?? -1
                            unsafe program.control_group = controlGroup?.raw ?? -1
                            unsafe program.mask = mask.map { Int32($0) } ?? -1
                            unsafe program.has_priority = priority == nil ? 0 : 1
                            unsafe program.priority = Int32(priority ?? 0)
                            unsafe program.limits = bounds.baseAddress
                            unsafe program.limit_count = Int32(bounds.count)
                            unsafe program.open_files = DescriptorLimit.ofChildren.map(Int64.init) ?? -1
                            unsafe program.oom_score = oomScore == nil ? nil : UnsafePointer(own[2])
                            let pid = unsafe clinux_start_program(&program)
                            if pid < 0, let call = unsafe program.failed_call {
                                failure = .system(
                                    call: unsafe String(cString: call), code: unsafe program.failed_code,
                                    path: path)
                            }
                            return pid
                        }
                    }
                }
            }
        }
        _ = consume parked
        if let failure { throw failure }
        return pid
    }
}
