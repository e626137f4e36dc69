import Host
import Warden

WardenProgram.main(Machine.arguments)
