import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `each of the programs` {
    /// A library that sets a variable before the program begins, as `libfaketime` does.
    private func library(in belfry: Belfry) throws -> String {
        try belfry.write(
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void begin(void) { setenv("SET_BEFORE", "yes", 1); }

            """, to: "before.c")
        let code = try Shell.run(
            "$(command -v cc || command -v clang) -shared -fPIC -o before.so before.c", in: belfry.folder.path
        )
        guard code == 0 else { throw NotStarted(program: "cc") }
        return belfry.folder.file("before.so")
    }

    @Test(.enabled(if: SyncFault.isAvailable, "no C compiler"))
    func `keeps its arguments behind a library that sets a variable first`() async throws {
        let belfry = try Belfry()
        belfry.set("LD_PRELOAD", try library(in: belfry))
        let words = try await belfry.run("cron", "words", "every day at 8")
        #expect(words.code == 0 && words.text.hasPrefix("0 8 * * *"), "\(words)")
        let daemon = try await belfry.run("belfryd", ["--no-such-flag"])
        #expect(daemon.code == 2 && daemon.errors.contains("--no-such-flag"), "\(daemon)")
        let warden = try await belfry.run("belfry-warden", ["--no-such-flag"])
        #expect(warden.code == 2 && warden.errors.contains("--no-such-flag"), "\(warden)")
    }

    @Test func `takes an empty argument for one, and the name it was called by for none`() async throws {
        let belfry = try Belfry()
        let empty = try await belfry.run("cron", "words", "")
        #expect(empty.code != 0 && !empty.errors.contains("Missing"), "\(empty)")
        let version = try await belfry.run("--version")
        #expect(version.code == 0 && version.text.contains("0.1.0"), "\(version)")
    }
}
