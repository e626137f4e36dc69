import Foundation
import TestSupport
import Testing

/// The binaries, with a mail server as a channel.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a channel that is a mail server` {
    @Test func `gets the failure of a job, encrypted, in one thread with the recovery`() async throws {
        let folder = try TemporaryFolder()
        let certificate = try SelfSignedCertificate(for: "localhost")
        let server = try await MailServerProcess(
            ["--tls", certificate.certificate, certificate.key, "--login", "bell", "s3cret-word"])
        let belfry = try Belfry(in: folder)
        try belfry.write("s3cret-word\n", to: "password")
        _ = unsafe chmod(folder.file("password"), 0o600)
        try belfry.write(
            """
            channels:
              inbox:
                kind: mail
                to: [ops@example.org]
                from: belfry@example.org
                url: smtp://localhost:\(server.port)
                user: bell
                password: { file: \(folder.file("password")) }
                ca: \(certificate.certificate)
                allow: [localhost]
            routes:
              - { when: [failed, recovered, test], to: [inbox] }
            jobs:
              backup: { schedule: manual, shell: "echo naïve; echo '<no tape> 🎞'; test -e \(folder.file("tape"))" }

            """, to: "belfry.yaml")
        try await belfry.start()
        #expect(try await belfry.run("run", "backup", "--follow").code == 1)
        let failed = try await server.mail()
        try belfry.write("", to: "tape")
        #expect(try await belfry.run("run", "backup", "--follow").code == 0)
        let recovered = try await server.mail()
        #expect(failed.tls && failed.user == "bell" && failed.to == ["ops@example.org"])
        #expect(failed.headers["Subject"] == "backup failed" && failed.defects.isEmpty)
        #expect(failed.headers["References"] == recovered.headers["References"])
        #expect(failed.headers["Message-ID"] != recovered.headers["Message-ID"])
        #expect(failed.plain?.hasPrefix("<no tape> 🎞\nexit code 1") ?? false, "\(failed.plain ?? "")")
        #expect(failed.html?.contains("&lt;no tape&gt; 🎞") == true)
        let test = try await belfry.run("channel", "test", "inbox")
        #expect(test.code == 0 && test.text.hasPrefix("delivered"), "\(test)")
        // With another password the server's own line comes back, and the password nowhere.
        try belfry.write("an0ther-word\n", to: "password")
        #expect(try await belfry.run("reload").code == 0)
        let refused = try await belfry.run("channel", "test", "inbox", "--json")
        #expect(refused.code == 1)
        let detail = try refused.json()["detail"].text ?? ""
        #expect(detail.contains("answered 535 5.7.8") && detail.hasSuffix("check user: and password:"))
        #expect(!(refused.text + refused.errors).contains("an0ther-word"))
    }
}
