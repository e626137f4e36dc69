import Curl
import Testing

@Suite struct `an address` {
    @Test(arguments: [
        "0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::ff00:42:8329", "fe80::1",
    ])
    func `is written as it was read`(text: String) throws {
        #expect(try #require(IPAddress(text)).description == text)
    }

    @Test(arguments: [
        "", "127.1", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "localhost", "::1%lo", "[::1]", " ::1",
    ])
    func `is not read from other text`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `is sent with its highest byte first`() {
        #expect(IPAddress("10.1.2.3")?.bytes == [10, 1, 2, 3])
        #expect(IPAddress("102:304::f")?.bytes == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15])
    }
}
