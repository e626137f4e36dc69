import Glibc
import Host
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a warden that does not come up` {
    @Test func `is reported with its last line`() async throws {
        let folder = try TemporaryFolder()
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        // A program that understands none of a warden's arguments, and says so.
        let error = await #expect(throws: WardenError.self) {
            try await client.connect(launching: WardenLaunch(executable: "/bin/ls", state: "/s"))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("until-idle"))
    }

    @Test func `is reported as silent when it printed nothing`() async throws {
        let folder = try TemporaryFolder()
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        let error = await #expect(throws: WardenError.self) {
            try await client.connect(launching: WardenLaunch(executable: "/bin/false"))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("ended at once"))
    }

    @Test func `is killed, and nobody waits for it, when it does not listen in time`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("pid")
        let script = "#!/bin/sh\necho $$ > \(file).new && mv \(file).new \(file)\nexec sleep 1000\n"
        try SmallFile.replace(folder.file("slow"), with: Array(script.utf8), mode: 0o700)
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        var launch = WardenLaunch(executable: folder.file("slow"))
        // A busy machine's may not have written its id in time, and the next one has more.
        for timeout in [Duration.milliseconds(200), .seconds(3), .seconds(30)]
        where PathContent(at: folder.file("pid")) == .nothing {
            launch.startTimeout = timeout
            let error = await #expect(throws: WardenError.self) {
                try await client.connect(launching: launch)
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("did not listen"))
        }
        let pid = try #require(Int32(SmallFile.text(folder.file("pid"))))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }
}
