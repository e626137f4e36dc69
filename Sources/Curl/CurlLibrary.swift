import CCurl
import Glibc

/// What must happen once in a process before the first handle of libcurl is made.
enum CurlLibrary {
    /// Zero when libcurl is ready for use, else its error code.
    ///
    /// Reading it the first time does the work.
    ///
    /// The corresponding C function is `curl_global_init`.
    static let initialisation: UInt32 = {
        keepOpenSSLUntilTheVeryEnd()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)).rawValue
    }()

    /// Stops OpenSSL from tearing itself down in `exit`, under the feet of a transfer on another thread.
    ///
    /// The function is looked up at run time because libcurl brings libcrypto along: neither its headers
    /// nor its linker name are needed, and a libcurl built on another TLS library has nothing to stop.
    ///
    /// The corresponding C function is `OPENSSL_init_crypto` with `OPENSSL_INIT_NO_ATEXIT`.
    private static func keepOpenSSLUntilTheVeryEnd() {
        typealias Initialise = @convention(c) (UInt64, OpaquePointer?) -> Int32
        let noExitHandler: UInt64 = 0x0008_0000
        guard let symbol = unsafe dlsym(nil, "OPENSSL_init_crypto") else { return }
        let initialise = unsafe unsafeBitCast(symbol, to: Initialise.self)
        _ = initialise(noExitHandler, nil)
    }
}

/// Why there is no answer.
package enum CurlError: Error, Hashable, Sendable {
    /// The request itself can't be sent; trying again changes nothing.
    case malformed(Flaw)
    /// The host's name has no address, or the lookup failed.
    case resolve(Fault)
    /// No connection: refused, unreachable, reset.
    case connect(Fault)
    /// The guard allowed none of the host's addresses; the first it refused.
    case refused(SocketAddress)
    /// The server could not be trusted, or the handshake failed.
    case tls(Fault)
    /// A time of ``CurlTimeouts`` ran out.
    case timedOut(Phase, Fault)
    /// The connection ended before the answer was whole.
    case cut(Fault)
    /// What came back is no HTTP answer, or has too many headers.
    case answer(Fault)
    /// Anything else libcurl reports, such as no memory.
    case library(Fault)
    /// The waiting task was cancelled.
    case canceled
    /// The ``CurlMulti`` was closed.
    case closed

    /// libcurl's code and its words, copied at once.
    package struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// A `CURLcode` (or a `CURLMcode` when the handle itself failed).
        package let code: UInt32
        /// libcurl's own words; may name the host, never the path.
        package let text: String
        /// Whether a mail server offers no STARTTLS, or refused it.
        package var isMissingStartTLS: Bool { code == CURLE_USE_SSL_FAILED.rawValue }
        /// Whether it is one of HTTP/2 itself, of the connection or of one stream.
        var isOfHTTP2: Bool { code == CURLE_HTTP2.rawValue || code == CURLE_HTTP2_STREAM.rawValue }
        /// The words and the code.
        package var description: String { "\(text) (curl \(code))" }
    }

    /// How far a request had come.
    package enum Phase: String, Hashable, Sendable {
        /// Looking for the host's addresses.
        case resolving
        /// Opening a connection, TLS included.
        case connecting
        /// Sending the request or reading the answer.
        case answering
        /// Waiting for the next byte of a streamed answer.
        case silent
    }

    /// The part of a request that can't be sent.
    package enum Flaw: String, Hashable, Sendable {
        /// Not an HTTP address, or one with spaces or control characters.
        case url
        /// Not a token.
        case method
        /// A header that is no token, or whose value has control characters.
        case header
        /// The file of certificates has no usable name.
        case authorities
        /// An address of a mail that is none, or none at all.
        case mailbox
        /// A user or a password with control characters.
        case login
    }
}

extension CurlError {
    /// What libcurl's `code` means for a request that had come as far as `phase`.
    ///
    /// - Source: libcurl-errors(3).
    init(_ code: CURLcode, text: String, phase: Phase) {
        let fault = Fault(code: code.rawValue, text: text)
        switch code {
        case CURLE_URL_MALFORMAT: self = .malformed(.url)
        case CURLE_COULDNT_RESOLVE_HOST: self = .resolve(fault)
        case CURLE_COULDNT_CONNECT: self = .connect(fault)
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut(phase, fault)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            self = .tls(fault)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
            CURLE_UPLOAD_FAILED, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            self = .cut(fault)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR,
            CURLE_BAD_CONTENT_ENCODING:
            self = .answer(fault)
        case CURLE_OUT_OF_MEMORY where phase == .answering:
            // libcurl's only word for headers above its limit of 300 kB.
            self = .answer(Fault(code: code.rawValue, text: "the answer's headers are too large"))
        default: self = .library(fault)
        }
    }
}
