import Foundation
import TestSupport
import Testing
import Tracking

private let venvPython = FileManager.default.currentDirectoryPath + "/.build/venv-gateway/bin/python"

/// Clients from PyPI against the emulated gateway: it is held to what they expect of a real one.
///
/// Runs where `.ci/gateway-clients` has installed them.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: FileManager.default.fileExists(atPath: venvPython)))
struct `clients of others` {
    private func emulator(_ version: Int) async throws -> GatewayEmulator {
        var manner = GatewayEmulator.Manner()
        manner.version = version
        manner.issuesTokens = false
        let gateway = try await GatewayEmulator(manner)
        gateway.put(
            job:
                #"{"id":"j","name":"Brief","enabled":true,"schedule":{"kind":"every","everyMs":60000},"payload":{"kind":"agentTurn","message":"x"},"state":{}}"#
        )
        return gateway
    }

    /// The lines that a program prints, and how it ends.
    private func run(_ program: String, _ gateway: GatewayEmulator) async throws -> (
        lines: [String], code: Int32
    ) {
        let folder = try TemporaryFolder()
        let process = try start(program, gateway, in: folder)
        var lines: [String] = []
        for await line in process.lines { lines.append(line) }
        return (lines, await process.status() ?? -1)
    }

    private func start(
        _ program: String, _ gateway: GatewayEmulator, in folder: TemporaryFolder,
        streams: ChildProcess.Streams = .lines
    ) throws -> ChildProcess {
        try ChildProcess(
            venvPython, ["-c", program],
            environment: [
                "HOME": folder.path, "URL": gateway.url, "OPENCLAW_GATEWAY_TOKEN": "shared-token",
                "PYTHONWARNINGS": "ignore",
            ], streams: streams)
    }

    private static let sdk = """
        import asyncio, hashlib, json, os, pathlib
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
        from openclaw_sdk.gateway.protocol import ProtocolGateway
        key = Ed25519PrivateKey.generate()
        raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        home = pathlib.Path(os.environ["HOME"]) / ".openclaw" / "identity"
        home.mkdir(parents=True)
        (home / "device.json").write_text(json.dumps({
            "deviceId": hashlib.sha256(raw).hexdigest(),
            "privateKeyPem": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "publicKeyPem": key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()}))
        (home / "device-auth.json").write_text(json.dumps({"tokens": {"operator": {
            "token": "shared-token", "role": "operator", "scopes": ["operator.admin"]}}}))
        async def attempt(name, call):
            try:
                print(name, json.dumps(await call), flush=True)
            except Exception as error:
                print(name, "refused:", error, flush=True)
        async def main():
            gateway = ProtocolGateway(os.environ["URL"], token="shared-token", connect_timeout=20)
            await gateway.connect()
            await attempt("list", gateway.call("cron.list", {"includeDisabled": True}))
            events = await gateway.subscribe(["chat"])
            await attempt("send", gateway.call("chat.send",
                {"sessionKey": "agent:main:main", "message": "Hi", "idempotencyKey": "k1"}))
            async for event in events:
                payload = event.data["payload"]
                if payload["state"] == "final":
                    print("said", payload["message"]["content"][0]["text"], flush=True)
                    break
            await attempt("string", gateway.call("cron.add", {"name": "x", "schedule": "0 7 * * *",
                "sessionTarget": "main", "wakeMode": "now", "payload": {"kind": "systemEvent", "text": "x"}}))
            await attempt("flat", gateway.call("cron.update", {"id": "j", "enabled": False}))
            await attempt("before", gateway.call("chat.history", {"sessionKey": "main", "before": "m1"}))
            await attempt("status", gateway.call("cron.status", {"jobId": "j"}))
            await attempt("unknown", gateway.call("gateway.discover", {}))
            await gateway.close()
        asyncio.run(main())
        """

    @Test func `of the SDK are served as a real gateway of version 3 serves them`() async throws {
        let gateway = try await emulator(3)
        let (lines, code) = try await run(Self.sdk, gateway)
        #expect(code == 0, "\(lines)")
        func line(_ name: String) -> String { lines.first { $0.hasPrefix(name + " ") } ?? "" }
        #expect(line("list").contains(#""name": "Brief""#), "\(lines)")
        #expect(line("send").contains(#""status": "started""#) && line("said") == "said Hello there")
        for name in ["string", "flat", "before", "status", "unknown"] {
            #expect(line(name).contains("refused:"), "\(name): \(lines)")
        }
        #expect(gateway.job("j")?["enabled"] == .bool(true) && gateway.executed == ["Hi"])
    }

    @Test func `of the SDK are refused by version 4, for they speak 3 alone`() async throws {
        let gateway = try await emulator(4)
        let folder = try TemporaryFolder()
        let process = try start(Self.sdk, gateway, in: folder, streams: .bothInLines)
        // It reports the refusal, and then waits for ever.
        #expect(await process.line { $0.contains("protocol mismatch") } != nil)
        await process.end()
        #expect(gateway.requests.allSatisfy { $0.method == "connect" } && gateway.executed.isEmpty)
    }

    @Test func `of a web chat stream a reply of version 3`() async throws {
        let gateway = try await emulator(3)
        gateway.reply(with: .init("One ", "two ", "three."))
        let program = """
            import os
            from openclaw_webchat_adapter.config import AdapterSettings
            from openclaw_webchat_adapter.ws_adapter import DeviceIdentity, OpenClawChatWsAdapter
            settings = AdapterSettings(url=os.environ["URL"], token="shared-token",
                scopes_csv="operator.read,operator.write,operator.admin")
            adapter = OpenClawChatWsAdapter.create_connected(settings, device=DeviceIdentity.generate())
            print("".join(adapter.stream_chat("Count.", timeout_s=30)), flush=True)
            history = adapter.get_chat_history_simple("agent:main:main")
            print([message.role for message in history], flush=True)
            os._exit(0)
            """
        let (lines, code) = try await run(program, gateway)
        #expect(code == 0 && lines.contains("One two three."), "\(lines)")
        #expect(lines.contains("['user', 'assistant']"), "\(lines)")
        #expect(gateway.requests.allSatisfy { $0.fault == nil }, "\(gateway.requests)")
    }
}
