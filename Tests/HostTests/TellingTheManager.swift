import Glibc
import Host
import TestSupport
import Testing

@Suite struct `the service manager` {
    private func received(_ socket: Descriptor) -> String {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(socket.raw, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test func `is notified that the process is ready`() throws {
        let folder = try TemporaryFolder()
        let socket = try LocalSocket.bindDatagram(folder.file("notify"))
        try ServiceManager.sayReady(environment: ["NOTIFY_SOCKET": folder.file("notify")])
        #expect(received(socket) == "READY=1")
    }

    @Test func `may listen at an abstract name`() throws {
        let name = "@belfry-test-" + UniqueID.v4()
        let socket = try LocalSocket.bindDatagram(name)
        try ServiceManager.sayReady(environment: ["NOTIFY_SOCKET": name])
        #expect(received(socket) == "READY=1")
    }

    @Test func `is not there without a socket's name`() throws {
        try ServiceManager.sayReady(environment: [:])
        try ServiceManager.sayReady(environment: ["NOTIFY_SOCKET": ""])
    }
}
