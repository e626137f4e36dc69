import Glibc
package import Host

/// The shell, to set scenes and to wait for what another process does.
package enum Shell {
    /// Runs `text` with `/bin/sh -c` in `folder`, waits for its end and returns its exit code.
    ///
    /// Blocks the calling thread.
    @discardableResult
    package static func run(_ text: String, in folder: String = "/") throws(HostError) -> Int32 {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let child = ChildProgram(
            path: "/bin/sh", arguments: ["sh", "-c", text], environment: Machine.environment, folder: folder,
            descriptors: [nothing, nothing, nothing])
        let pid = try child.start()
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }
}
