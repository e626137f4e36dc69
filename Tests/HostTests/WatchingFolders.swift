import Host
import Synchronization
import TestSupport
import Testing

@Suite struct `a folder watch` {
    @Test func `reports files in the folder and in the folders in it, new ones too`() async throws {
        let folder = try TemporaryFolder()
        let zones = folder.file("zones")
        try await Shell.run(
            "mkdir -p zones/Europe && echo 1 > zones/Europe/Berlin", in: folder.path)
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        let watch = try FolderWatch(zones, quiet: .milliseconds(100)) { continuation.yield() }
        var turns = changes.makeAsyncIterator()
        try await Shell.run(
            "for i in 1 2 3; do echo $i > zones/new; mv zones/new zones/version; done", in: folder.path)
        await turns.next()
        try await Shell.run(
            "echo 2 > zones/b && mv zones/b zones/Europe/Berlin", in: folder.path)
        await turns.next()
        try await Shell.run(
            "mkdir zones/Asia && echo 1 > zones/Asia/Tokyo", in: folder.path)
        await turns.next()
        try await Shell.run(
            "echo 2 > zones/Asia/Tokyo", in: folder.path)
        await turns.next()
        withExtendedLifetime(watch) {}
    }

    @Test func `refuses what is no folder`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: HostError.self) { try FolderWatch(folder.file("none")) {} }
    }
}
