import CLinux
import Glibc

/// A program to start in its own session, with nothing inherited but what is named here.
package struct ChildProgram: Sendable {
    /// The file to run; it is not searched for.
    package var path: String
    /// Its arguments, the first one being its own name.
    package var arguments: [String]
    /// Its whole environment.
    package var environment: [String: String]
    /// The folder it starts in; nil for this process's own.
    package var folder: String?
    /// What becomes its descriptors 0, 1, 2 and so on; it inherits no other.
    package var descriptors: [Descriptor]

    /// Describes the program; starts nothing.
    package init(
        path: String, arguments: [String], environment: [String: String], folder: String? = nil,
        descriptors: [Descriptor]
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
        self.descriptors = descriptors
    }

    /// Starts it and returns its process id, which is also its session and process group.
    ///
    /// Signals are unblocked and back at their defaults in it. A program or folder that cannot be used
    /// is thrown here, with the errno of the failed step.
    ///
    /// The corresponding C function is `posix_spawn`.
    package func start() throws(HostError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // A descriptor that already has the number of a later target would be overwritten: park it above.
        var parked: [Descriptor] = []
        for (target, descriptor) in descriptors.enumerated() {
            var source = descriptor.raw
            if source < descriptors.count, source != target {
                let above = try Descriptor(
                    clinux_fcntl(source, F_DUPFD_CLOEXEC, Int32(descriptors.count)), call: "fcntl")
                parked.append(above)
                source = above.raw
            }
            unsafe posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }
        unsafe clinux_spawn_add_closefrom(&actions, Int32(descriptors.count))
        if let folder { unsafe clinux_spawn_add_chdir(&actions, folder) }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(
            &attributes,
            clinux_spawn_setsid() | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        var pid: Int32 = 0
        let variables = environment.map { $0.key + "=" + $0.value }
        let code = unsafe withStrings(arguments) { arguments in
            unsafe withStrings(variables) { variables in
                unsafe posix_spawn(&pid, path, &actions, &attributes, arguments, variables)
            }
        }
        _ = consume parked
        guard code == 0 else { throw .system(call: "posix_spawn", code: code, path: path) }
        return pid
    }

    /// The strings as C wants them: pointers into one block, ended by a null pointer.
    private func withStrings(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var block: [UInt8] = []
        var offsets: [Int] = []
        for string in strings {
            offsets.append(block.count)
            block.append(contentsOf: string.utf8)
            block.append(0)
        }
        return unsafe block.withUnsafeMutableBytes { bytes in
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var pointers = unsafe offsets.map { offset in unsafe base.map { unsafe $0 + offset } }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let first = list.baseAddress else { return EINVAL }
                return unsafe body(first)
            }
        }
    }
}
