import CCurl
import Glibc

// The functions libcurl calls back. Each finds its transfer, notes something in it, and returns; none
// touches a handle, because libcurl allows that in no callback.

extension CurlTransfer {
    /// Hands libcurl the functions below, with this transfer as their context.
    func setCallbacks() throws(CurlError) {
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorBuffer))
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_HEADERDATA, own))
        try check(unsafe ccurl_set_write_function(easy, CURLOPT_HEADERFUNCTION, receiveHeaderLine))
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_WRITEDATA, own))
        try check(unsafe ccurl_set_write_function(easy, CURLOPT_WRITEFUNCTION, receiveBodyBytes))
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_READDATA, own))
        try check(unsafe ccurl_set_read_function(easy, readMessageBytes))
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, own))
        try check(unsafe ccurl_set_open_socket_function(easy, openSocket))
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_PREREQDATA, own))
        try check(unsafe ccurl_set_before_request_function(easy, judgeConnection))
        try check(unsafe ccurl_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, own))
        try check(unsafe ccurl_set_resolver_start_function(easy, noteLookup))
    }

    fileprivate static func from(_ pointer: UnsafeMutableRawPointer?) -> CurlTransfer? {
        guard let pointer = unsafe pointer else { return nil }
        return unsafe Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }
}

private func receiveHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ own: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe CurlTransfer.from(own) else { return 0 }
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receive(headerLine: line) ? size * count : 0
}

private func receiveBodyBytes(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ own: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe CurlTransfer.from(own) else { return 0 }
    let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    switch unsafe transfer.receive(bodyBytes: part) {
    case .more: return size * count
    case .pause: return Int(CURL_WRITEFUNC_PAUSE)
    // Anything but the full count makes libcurl stop; the count plus one can never be mistaken for it.
    case .enough: return size * count + 1
    }
}

private func readMessageBytes(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ own: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe CurlTransfer.from(own) else { return Int(CURL_READFUNC_ABORT) }
    let room = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.copyMessage(to: room)
}

/// Asks the guard, then opens the socket.
///
/// Not inherited by child processes.
private func openSocket(
    _ own: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = unsafe CurlTransfer.from(own), let address = unsafe address,
        let target = unsafe SocketAddress(address)
    else { return CURL_SOCKET_BAD }
    transfer.lookupEnded()
    guard transfer.addressGuard.allows(target) else {
        transfer.refused = transfer.refused ?? target
        return CURL_SOCKET_BAD
    }
    transfer.hasOpenedSocket = true
    let kind = unsafe address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return unsafe socket(address.pointee.family, kind, address.pointee.protocol)
}

/// Asks the guard about a connection that stands, just before the request is written to it: a kept one
/// never came through ``openSocket``.
private func judgeConnection(
    _ own: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?,
    _ local: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let transfer = unsafe CurlTransfer.from(own), let remote = unsafe remote,
        let ip = unsafe IPAddress(String(cString: remote)), let port = UInt16(exactly: remotePort)
    else { return CURL_PREREQFUNC_ABORT }
    let target = SocketAddress(ip: ip, port: port)
    guard transfer.addressGuard.allows(target) else {
        transfer.refused = transfer.refused ?? target
        transfer.hasOpenedSocket = false
        return CURL_PREREQFUNC_ABORT
    }
    transfer.requestBegins()
    return CURL_PREREQFUNC_OK
}

private func noteLookup(
    _ state: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?, _ own: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe CurlTransfer.from(own)?.lookupBegins()
    return 0
}

extension SocketAddress {
    /// The address libcurl is about to connect to; `nil` unless it is one of the internet.
    fileprivate init?(_ address: UnsafePointer<curl_sockaddr>) {
        switch unsafe address.pointee.family {
        case AF_INET:
            let v4 = unsafe ccurl_address_v4(address)
            self.init(ip: .v4(UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6:
            let v6 = unsafe ccurl_address_v6(address)
            self.init(ip: IPAddress(v6.sin6_addr), port: UInt16(bigEndian: v6.sin6_port))
        default:
            return nil
        }
    }
}
