/** Kinds of animals with descriptions; the first ones make a varied small store. */
export const KINDS: readonly (readonly [name: string, description: string])[] = [
  ['Labrador Retriever', 'Friendly, outgoing dogs that love water and get along with everyone.'],
  ['Maine Coon', 'Large, gentle cats with tufted ears and a bushy tail.'],
  ['Budgerigar', 'Small, talkative parakeets that like company.'],
  ['Syrian Hamster', 'Golden hamsters that live alone and are awake at night.'],
  ['Goldfish', 'Hardy freshwater fish for spacious tanks and ponds.'],
  ['Holland Lop', 'Small rabbits with lop ears and a calm temper.'],
  ['Leopard Gecko', 'Easy-going ground geckos that rarely climb and never bark.'],
  ['Border Collie', 'Tireless herding dogs that need work for the head as well as the legs.'],
  ['Siamese', 'Slender, blue-eyed cats with a great deal to say.'],
  ['Cockatiel', 'Crested parrots that whistle what they hear.'],
  ['American Guinea Pig', 'Smooth-coated guinea pigs, to be kept in pairs or groups.'],
  ['Betta', 'Siamese fighting fish: splendid fins, one male to a tank.'],
  ['Corn Snake', 'Docile, non-venomous snakes that are easy to keep.'],
  ['Golden Retriever', 'Patient family dogs with a soft mouth and a soft heart.'],
  ['British Shorthair', 'Round-faced, even-tempered cats with a dense coat.'],
  ['Fancy Rat', 'Clever, cuddly rodents that learn their names.'],
  ['German Shepherd', 'Loyal, confident working dogs.'],
  ['Ragdoll', 'Cats that go limp with pleasure when they are picked up.'],
  ['Zebra Finch', 'Lively little finches that chatter all day.'],
  ['Neon Tetra', 'Small, bright schooling fish for planted tanks.'],
  ['Netherland Dwarf', 'One of the smallest rabbits, with short, upright ears.'],
  ['Bearded Dragon', 'Sociable lizards that bask by day and wave hello.'],
  ['French Bulldog', 'Compact, bat-eared dogs for small flats.'],
  ['Bengal', 'Athletic cats with a leopard’s coat and a taste for heights.'],
  ['Canary', 'Songbirds in yellow, orange and white.'],
  ['Dwarf Hamster', 'Quick, thumb-sized hamsters.'],
  ['Guppy', 'Colourful, undemanding livebearers.'],
  ['Russian Tortoise', 'Small tortoises that dig, graze and outlive their terrariums.'],
  ['Beagle', 'Cheerful scent hounds led by the nose.'],
  ['Sphynx', 'Hairless, warm and very fond of laps.'],
  ['Lovebird', 'Small parrots that bond for life.'],
  ['Chinchilla', 'Crepuscular acrobats with the densest fur there is.'],
  ['Angelfish', 'Tall, graceful cichlids for deep tanks.'],
  ['Ball Python', 'Shy pythons that curl up when in doubt.'],
  ['Poodle', 'Quick learners with a coat that does not shed.'],
  ['Persian', 'Long-haired, sweet-faced cats for quiet homes.'],
  ['African Grey Parrot', 'Famously clever parrots that need hours of company.'],
  ['Ferret', 'Playful, inquisitive and asleep for most of the day.'],
  ['Koi', 'Ornamental carp for garden ponds.'],
  ['Crested Gecko', 'Arboreal geckos with eyelashes.'],
  ['Dachshund', 'Long, low and afraid of nothing.'],
  ['Norwegian Forest Cat', 'Sturdy climbers with a waterproof coat.'],
  ['Java Sparrow', 'Neat, grey finches that live in flocks.'],
  ['Mongolian Gerbil', 'Busy diggers that thump when they are excited.'],
  ['Corydoras', 'Peaceful catfish that keep the bottom of the tank clean.'],
  ['Greek Tortoise', 'Sun-loving tortoises for dry gardens.'],
  ['Welsh Corgi', 'Short-legged herders with large opinions.'],
  ['Abyssinian', 'Ticked, curious cats that are always where the action is.'],
  ['Degu', 'Social, diurnal rodents from the Andes.'],
  ['Axolotl', 'Smiling salamanders that never grow up.'],
];

/** Typical pet names. */
export const PET_NAMES: readonly string[] = (
  'Bella Luna Charlie Max Milo Daisy Lucy Cooper Bailey Rocky Sadie Molly Buddy Lola Stella Tucker Bear Zoe Duke Penny ' +
  'Oliver Leo Jack Toby Lily Ruby Chloe Rosie Sophie Willow Nala Coco Teddy Winston Murphy Ollie Jasper Gizmo Oscar Finn ' +
  'Loki Simba Shadow Pepper Ginger Maggie Piper Harley Hazel Olive Maple Biscuit Mochi Peanut Pickles Waffles Nugget Bean ' +
  'Clover Poppy Juniper Basil Sage Saffron Nutmeg Truffle Mango Kiwi Apollo Athena Hermes Juno Thor Freya Odin Ziggy Bowie ' +
  'Ella Otis Etta Miles Louis Nina Django Frida Pablo Dalí Yuki Kenji Sakura Zuri Koda Nova Cosmo Astra Orion Comet Pixel ' +
  'Turing Ada Newton Darwin Tesla Copper Rusty Smokey Ash Onyx Pearl Jade Amber Indigo Scout Ranger River Sunny Storm ' +
  'Rex Fido Tom Felix Garfield Nemo Dory Bubbles Squeak Whiskers Paws Patches Socks Boots Domino Checkers Muffin Pudding'
).split(' ');

/** Second names, which some pets have. */
export const SECOND_NAMES: readonly string[] = [
  'June',
  'Mae',
  'Rose',
  'Blue',
  'Junior',
  'Belle',
  'the Brave',
  'the Second',
];
