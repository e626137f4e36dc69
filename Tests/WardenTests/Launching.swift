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
}
