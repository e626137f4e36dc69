import Foundation
import GatewayClient
import OpenClaw
import TestSupport
import Testing
import Tracking

@Suite struct `the identity of a device` {
    private static let seed: [UInt8] = [
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44,
        0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
    ]

    /// The vector of the gateway's own module; see openclaw.md 3.1.
    @Test func `signs as the gateway's own client does`() throws {
        let identity = try #require(DeviceIdentity(seed: Self.seed))
        #expect(identity.id == "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9")
        #expect(identity.publicKey == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        let payload = JSON.object([
            "nonce": .string("00000000-0000-4000-8000-000000000001"), "ts": .int(1_737_264_000_000),
        ])
        let challenge = try #require(GatewayChallenge(payload))
        var statement = DeviceStatement(device: identity.id, token: "test-token", challenge: challenge)
        (statement.platform, statement.family) = ("Linux", " Server ")
        #expect(
            statement.text
                == "v3|21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9|gateway-client|backend|operator|operator.read,operator.write|1737264000000|test-token|00000000-0000-4000-8000-000000000001|linux|server"
        )
        let proof = try #require(identity.proof(of: statement))
        #expect(
            proof.signature
                == "W82UarXnuLPBba19KlgmRfayDQ4DMlF2mhbp-9SOqEFV7SNzmEYnELtY-FF0Bj4e1UfLymjyQlesuF0UAUZSBg")
    }

    /// See openclaw.md 8.2.
    @Test(arguments: [
        ("job-1", 47_897), ("11111111-1111-4111-8111-111111111111", 152_325),
        ("00000000-0000-4000-8000-000000000000", 120_896),
    ])
    func `computes the delay of a job as the gateway does`(job: String, milliseconds: Int) {
        #expect(StaggerOffset.of(job, within: .seconds(300)) == .milliseconds(milliseconds))
        #expect(StaggerOffset.of(job, within: .zero) == .zero)
    }

    @Test func `stays in a file that nobody else can read, with the token`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("gateways/127.0.0.1_18789.json")
        let file = DeviceFile(folder: folder.file("gateways"), host: "127.0.0.1", port: 18789)
        let id = try file.read().identity.id
        try file.keep(token: "dt-1")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let again = try DeviceFile(folder: folder.file("gateways"), host: "127.0.0.1", port: 18789).read()
        #expect(again.identity.id == id && again.token == "dt-1")
        let other = DeviceFile(folder: folder.file("gateways"), host: "127.0.0.1", port: 18790)
        #expect(try other.read().identity.id != id && other.read().token == nil)
    }

    @Test func `is not replaced where its file is damaged`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("h_1.json")
        try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
        let file = DeviceFile(folder: folder.path, host: "h", port: 1)
        #expect(throws: (any Error).self) { try file.read() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "{}")
    }
}
