import Foundation

/// A certificate that vouches for itself, made with the system's `openssl`, and its key.
package final class SelfSignedCertificate: Sendable {
    /// The path of the certificate's PEM file.
    package let certificate: String
    /// The path of the key's PEM file.
    package let key: String
    private let folder: URL

    /// Makes one for the DNS name `name`.
    package init(for name: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appendingPathComponent("certificate.pem").path
        key = folder.appendingPathComponent("key.pem").path
        let text = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -subj '/CN=\(name)' -addext 'subjectAltName=DNS:\(name)' -keyout '\(key)' -out '\(certificate)'
            """
        guard try Shell.run(text) == 0 else { throw NotStarted(program: "openssl") }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }
}
