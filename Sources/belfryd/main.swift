import API
import ArgumentParser
import Glibc
import Host

Descriptor.fillStandardStreams()
WorkerPool.install()

// Errors of usage end with 2 here, not with the parser library's 64; what help asks for ends with 0.
do {
    switch try Belfryd.parseAsRoot(Array(Machine.arguments.dropFirst())) {
    case let daemon as Belfryd: try await daemon.run()
    case let listen as Listen: try await listen.run()
    case let send as Send: try await send.run()
    case let backup as Backup: try await backup.run()
    case let restore as Restore: try await restore.run()
    case let replay as ReplayCommand: try await replay.run()
    case let agent as Agent: try await agent.run()
    case var help: try help.run()
    }
} catch let failure as Failure {
    failure.end()
} catch {
    // Help and the version come as errors, too.
    guard Belfryd.exitCode(for: error) != .success else {
        StandardOutput.print(Belfryd.fullMessage(for: error))
        exit(0)
    }
    let sentence = APIError(
        .badRequest, UsageSentence.of(Belfryd.message(for: error)), hint: "See: belfryd --help"
    ).sentence
    Failure("belfryd: \(sentence)", code: Belfryd.exitCode(for: error) == .validationFailure ? 2 : 1).end()
}
