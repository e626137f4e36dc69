import ArgumentParser
import Glibc
import Host

WorkerPool.install()

// Errors of usage end with 2 here, not with the parser library's 64; what help asks for ends with 0.
do {
    switch try Belfryd.parseAsRoot() {
    case let daemon as Belfryd: try await daemon.run()
    case let listen as Listen: try await listen.run()
    case var help: try help.run()
    }
} catch let failure as Failure {
    failure.end()
} catch {
    let code = Belfryd.exitCode(for: error)
    let text = Belfryd.fullMessage(for: error)
    if code == .success {
        print(text)
        exit(0)
    }
    Failure(text, code: code == .validationFailure ? 2 : code.rawValue).end()
}
