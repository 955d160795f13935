//! Where the basic blocks of a binary are: functions by `.eh_frame`, which every program has that can throw or be
//! unwound, and their blocks by disassembly.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection};
use iced_x86::{Code as Opcode, Decoder, DecoderOptions, FlowControl, Instruction};
use memmap2::Mmap;
use object::{Object, ObjectSection, SectionFlags, elf};

use crate::CoverageError;

/// How closely code is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Every basic block.
    Blocks,
    /// Only where functions begin: for binaries with more blocks than breakpoints are worth.
    Functions,
}

/// The code of one build of a program or library. Addresses are those of the file: a loaded module adds where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Tells builds apart.
    pub id: String,
    /// The starts of its functions, sorted; parts that a compiler moved elsewhere count as functions of their own.
    pub functions: Vec<u32>,
    /// Where breakpoints may be set, sorted: the starts of functions, and of blocks in all that were understood.
    pub places: Vec<u32>,
}

/// What a file of a scan begins with; another way to scan gets another name.
const MAGIC: [u8; 8] = *b"dsntcov1";

impl Code {
    /// Finds the places of a binary, or reads what was found of the same build before, in `cache`.
    pub fn of(path: &Path, depth: Depth, cache: &Path) -> Result<Code, CoverageError> {
        if !crate::is_possible() {
            return Err(CoverageError::NotHere);
        }
        let bytes = map_file(path)?;
        let id = identity(path, &bytes)?;
        let kind = if depth == Depth::Functions { "functions" } else { "blocks" };
        let kept = cache.join(format!("{id}.{kind}"));
        if let Some(code) = Code::read(&kept, &id) {
            return Ok(code);
        }
        let code = Code::scan_bytes(path, &bytes, depth)?;
        // Without a cache the next one scans again.
        let _ = code.write(&kept);
        Ok(code)
    }

    /// Finds the places of a binary.
    pub fn scan(path: &Path, depth: Depth) -> Result<Code, CoverageError> {
        Code::scan_bytes(path, &map_file(path)?, depth)
    }

    fn scan_bytes(path: &Path, bytes: &[u8], depth: Depth) -> Result<Code, CoverageError> {
        let id = identity(path, bytes)?;
        let failed = |reason: String| CoverageError::NotScanned { path: path.to_path_buf(), reason };
        let file = object::File::parse(bytes).map_err(|error| failed(error.to_string()))?;
        let functions = functions(&file).map_err(|error| failed(error.to_string()))?;
        if functions.is_empty() {
            return Err(failed("it has no .eh_frame".to_string()));
        }
        let mut places = Vec::with_capacity(functions.len());
        let mut end = 0;
        for (at, function) in functions.iter().enumerate() {
            let next = functions.get(at + 1).map_or(u64::MAX, |next| next.start);
            // Two that overlap cannot both be right.
            let alone = end <= function.start && function.start + function.bytes.len() as u64 <= next;
            end = end.max(function.start + function.bytes.len() as u64);
            match depth {
                Depth::Blocks if alone => match blocks(function) {
                    Some(blocks) => places.extend(blocks),
                    None => places.push(function.start as u32),
                },
                _ => places.push(function.start as u32),
            }
        }
        let functions = functions.iter().map(|function| function.start as u32).collect();
        places.sort_unstable();
        places.dedup();
        Ok(Code { id, functions, places })
    }

    /// The function that a place belongs to, by its number.
    pub fn function_of(&self, place: u32) -> Option<usize> {
        self.functions.partition_point(|start| *start <= place).checked_sub(1)
    }

    fn read(path: &Path, id: &str) -> Option<Code> {
        let bytes = fs::read(path).ok()?;
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (count, numbers) = rest.split_at_checked(8)?;
        let count = u64::from_le_bytes(count.try_into().ok()?) as usize;
        let (words, []) = numbers.as_chunks::<4>() else { return None };
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (functions, places) = words.split_at_checked(count)?;
        // What was cut off by a full disk is not a scan.
        let sorted = functions.is_sorted() && places.is_sorted() && places.first() >= functions.first();
        let (functions, places) = (functions.to_vec(), places.to_vec());
        (sorted && !places.is_empty()).then(|| Code { id: id.to_string(), functions, places })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((self.functions.len() as u64).to_le_bytes());
        bytes.extend(self.functions.iter().chain(&self.places).flat_map(|number| number.to_le_bytes()));
        replace(path, &bytes)
    }
}

/// Writes a file that is there whole or not at all.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{}", std::process::id()));
    let unfinished = PathBuf::from(unfinished);
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, path)
}

pub(crate) fn map_file(path: &Path) -> Result<Mmap, CoverageError> {
    let file = File::open(path).map_err(CoverageError::file(path))?;
    // SAFETY: a library or program that is installed is replaced by another file, not written to. If it were, what is
    // read would be wrong, as the program itself would be.
    unsafe { Mmap::map(&file) }.map_err(CoverageError::file(path))
}

/// The build-id that linkers write, or a hash of the file.
fn identity(path: &Path, bytes: &[u8]) -> Result<String, CoverageError> {
    let failed = |error: object::Error| CoverageError::NotScanned {
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let file = object::File::parse(bytes).map_err(failed)?;
    if let Some(id) = file.build_id().map_err(failed)?.filter(|id| id.len() >= 8) {
        return Ok(id.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let mut hash = DefaultHasher::new();
    hash.write(bytes);
    Ok(format!("{:016x}-{}", hash.finish(), bytes.len()))
}

/// A function and its instructions.
struct Function<'a> {
    start: u64,
    bytes: &'a [u8],
}

/// The functions of a file, sorted by address.
fn functions<'a>(file: &object::File<'a>) -> Result<Vec<Function<'a>>, Box<dyn std::error::Error>> {
    let sections = code_sections(file)?;
    let Some(frames) = file.section_by_name(".eh_frame") else { return Ok(Vec::new()) };
    let data = frames.uncompressed_data()?;
    let unwind = EhFrame::new(&data, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(frames.address());
    let mut functions = Vec::new();
    let mut entries = unwind.entries(&bases);
    while let Some(entry) = entries.next()? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let entry = partial.parse(EhFrame::cie_from_offset)?;
        let (start, length) = (entry.initial_address(), entry.len() as usize);
        let inside =
            |section: &&(u64, &[u8])| (section.0..section.0 + section.1.len() as u64).contains(&start);
        // Stubs of the linker are not the engine's code, and some entries are of functions that were left out.
        let Some((address, code)) = sections.iter().find(inside) else { continue };
        let offset = (start - address) as usize;
        if let (Some(bytes @ [_, ..]), Ok(_)) = (code.get(offset..offset + length), u32::try_from(start)) {
            functions.push(Function { start, bytes });
        }
    }
    functions.sort_by_key(|function| function.start);
    functions.dedup_by_key(|function| function.start);
    Ok(functions)
}

/// The sections with code, without those of the linker.
fn code_sections<'a>(file: &object::File<'a>) -> Result<Vec<(u64, &'a [u8])>, object::Error> {
    let mut sections = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let name = section.name()?;
        let of_linker = name.starts_with(".plt") || name == ".init" || name == ".fini";
        if sh_flags & u64::from(elf::SHF_EXECINSTR) != 0 && !of_linker {
            sections.push((section.address(), section.data()?));
        }
    }
    Ok(sections)
}

/// The starts of a function's basic blocks. `None`: it is not understood, as where data is between its instructions.
fn blocks(function: &Function) -> Option<Vec<u32>> {
    let end = function.start + function.bytes.len() as u64;
    let mut decoder = Decoder::with_ip(64, function.bytes, function.start, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    // One bit per byte: an instruction starts here. The same for jumps.
    let mut starts = vec![false; function.bytes.len()];
    let mut fills = vec![false; function.bytes.len()];
    let mut leaders = vec![function.start];
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            return None;
        }
        let at = (instruction.ip() - function.start) as usize;
        starts[at] = true;
        fills[at] = is_filler(&instruction);
        let flow = instruction.flow_control();
        if matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch) {
            let target = instruction.near_branch_target();
            if (function.start..end).contains(&target) {
                leaders.push(target);
            }
        }
        let goes_on = matches!(flow, FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall);
        if !goes_on && instruction.next_ip() < end {
            leaders.push(instruction.next_ip());
        }
    }
    let mut places = Vec::with_capacity(leaders.len());
    for leader in leaders {
        let mut at = (leader - function.start) as usize;
        if !starts[at] {
            return None;
        }
        // What fills the space between blocks is often passed over.
        while at < starts.len() && (fills[at] || !starts[at]) {
            at += 1;
        }
        if at < starts.len() {
            places.push((function.start + at as u64) as u32);
        }
    }
    Some(places)
}

/// Whether an instruction does nothing but take room.
fn is_filler(instruction: &Instruction) -> bool {
    use Opcode::*;
    matches!(instruction.code(), Nopw | Nopd | Nopq | Nop_rm16 | Nop_rm32 | Nop_rm64 | Int3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Option<Vec<u32>> {
        let mut found = blocks(&Function { start: 0x1000, bytes })?;
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    #[test]
    fn a_branch_ends_a_block_and_begins_two() {
        // test edi, edi; je +3; lea eax, [rdi+1]; ret
        assert_eq!(of(&[0x85, 0xff, 0x74, 0x03, 0x8d, 0x47, 0x01, 0xc3]), Some(vec![0x1000, 0x1004, 0x1007]));
        // A call does not: call +0; ret
        assert_eq!(of(&[0xe8, 0, 0, 0, 0, 0xc3]), Some(vec![0x1000]));
        // What fills the room behind a jump is no block: jmp +1; nop; ret
        assert_eq!(of(&[0xeb, 0x01, 0x90, 0xc3]), Some(vec![0x1000, 0x1003]));
    }

    #[test]
    fn what_is_not_understood_has_no_blocks() {
        // A jump into an instruction: jmp +1; mov eax, 1
        assert_eq!(of(&[0xeb, 0x01, 0xb8, 1, 0, 0, 0]), None);
        // Not an instruction; cut off.
        assert_eq!(of(&[0x06, 0xc3]), None);
        assert_eq!(of(&[0xb8, 1, 0]), None);
    }
}
