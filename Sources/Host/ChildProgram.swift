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
        let (places, parked) = try sources()
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
                            var program = unsafe numbers
                            unsafe program.path = UnsafePointer(own[0])
                            unsafe program.arguments = arguments
                            unsafe program.environment = variables
                            unsafe program.folder = folder == nil ? nil : UnsafePointer(own[1])
                            unsafe program.descriptors = places.baseAddress
                            unsafe program.limits = bounds.baseAddress
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

    /// The descriptors it gets as 0, 1, 2 ..., and copies that must live until it is started.
    ///
    /// A descriptor that already has the number of a later target would be overwritten: a copy above takes its place.
    private func sources() throws(HostError) -> (places: [Int32], parked: [Descriptor]) {
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
        return (places, parked)
    }

    /// The program's parameters that are no pointers.
    private var numbers: clinux_program {
        var program = unsafe clinux_program()
        unsafe program.descriptor_count = Int32(descriptors.count)
        unsafe program.terminal = terminal.map(Int32.init) ?? -1
        unsafe program.control_group = controlGroup?.raw ?? -1
        unsafe program.mask = mask.map { Int32($0) } ?? -1
        unsafe program.has_priority = priority == nil ? 0 : 1
        unsafe program.priority = Int32(priority ?? 0)
        unsafe program.limit_count = Int32(limits.count)
        unsafe program.open_files = DescriptorLimit.ofChildren.map(Int64.init) ?? -1
        return unsafe program
    }
}

/// The variables a program is started with: those it shares with many others, and its own, which win over them.
package struct ChildEnvironment: Sendable {
    /// Variables of many programs, written out once.
    package struct Shared: Sendable {
        /// The names and values.
        package let values: [String: String]
        fileprivate let names: [String]
        fileprivate let lines: CStrings

        /// Variables to be shared.
        package init(_ values: [String: String]) {
            self.values = values
            names = Array(values.keys)
            var lines = CStrings()
            for (name, value) in values { lines.append(name, value) }
            self.lines = lines
        }
    }

    private let shared: Shared?
    /// The program's own variables.
    package var own: [String: String]

    /// The variables of `own`, and of `shared` those it does not name.
    package init(_ own: [String: String], sharing shared: Shared? = nil) {
        self.own = own
        self.shared = shared
    }

    /// The value of the variable; nil: there is none.
    package subscript(name: String) -> String? { own[name] ?? shared?.values[name] }

    /// One line for each.
    var lines: CStrings {
        var lines = CStrings()
        if let shared {
            lines.append(shared.lines) { own[shared.names[$0]] == nil }
        }
        for (name, value) in own { lines.append(name, value) }
        return lines
    }
}

/// Strings as C wants them: one block of bytes, and where in it each begins.
struct CStrings {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    init(_ strings: [String] = []) {
        for string in strings {
            starts.append(bytes.count)
            bytes.append(contentsOf: string.utf8)
            bytes.append(0)
        }
    }

    /// Adds `NAME=value`.
    mutating func append(_ name: String, _ value: String) {
        starts.append(bytes.count)
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "="))
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
    }

    /// Adds those of `others` whose place among them `isWanted`.
    mutating func append(_ others: CStrings, where isWanted: (Int) -> Bool) {
        let base = bytes.count
        bytes.append(contentsOf: others.bytes)
        for (place, start) in others.starts.enumerated() where isWanted(place) { starts.append(base + start) }
    }

    /// Calls `body` with pointers to them, ended by a null pointer.
    mutating func withPointers(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> Int32 {
        let starts = starts
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var pointers = unsafe starts.map { start in unsafe base.map { unsafe $0 + start } }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let first = list.baseAddress else { return -1 }
                return unsafe body(first)
            }
        }
    }
}
