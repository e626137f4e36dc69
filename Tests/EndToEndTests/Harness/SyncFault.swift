import Foundation
import TestSupport

/// A disk whose syncs fail in `belfryd`, from a moment on: a library put in front of the C library's.
struct SyncFault {
    static let isAvailable = (try? Shell.run("command -v cc || command -v clang")) == 0

    private let folder: TemporaryFolder

    /// Builds the library in `folder`; the failed syncs are counted in its file `syncs`, a line each.
    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        try Data(Self.source.utf8).write(to: URL(fileURLWithPath: folder.file("fault.c")))
        let code = try Shell.run(
            "$(command -v cc || command -v clang) -shared -fPIC -o fault.so fault.c -ldl", in: folder.path)
        guard code == 0 else { throw NotStarted(program: "cc") }
    }

    /// What the daemon must be started with.
    var environment: [String: String] {
        [
            "LD_PRELOAD": folder.file("fault.so"), "FAULT_FILE": folder.file("fault"),
            "FAULT_LOG": folder.file("syncs"),
        ]
    }

    /// From now on syncs fail.
    func begin() throws { try Data().write(to: URL(fileURLWithPath: folder.file("fault"))) }

    /// From now on they work.
    func end() throws { try FileManager.default.removeItem(atPath: folder.file("fault")) }

    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        static int fails(void) {
            const char *file = getenv("FAULT_FILE"), *log = getenv("FAULT_LOG");
            if (strcmp(program_invocation_short_name, "belfryd") != 0) return 0;
            if (!file || access(file, F_OK) != 0) return 0;
            int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
            if (out >= 0) { if (write(out, "sync\\n", 5) < 0) {} close(out); }
            errno = EIO;
            return 1;
        }
        int fsync(int fd) { return fails() ? -1 : (int)syscall(SYS_fsync, fd); }
        int fdatasync(int fd) { return fails() ? -1 : (int)syscall(SYS_fdatasync, fd); }

        """
}
