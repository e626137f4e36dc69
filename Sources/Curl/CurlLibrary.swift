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
